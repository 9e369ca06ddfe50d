#pragma once
// Tasks that are supervised together.

#include <cstdint>

#include "dag/detail/builder.hpp"

namespace dag {

/// A handle of a group of tasks that are supervised together (Graph::group). Lifetime as Output's.
class Group {
 public:
  Group(detail::Builder& builder, std::uint32_t index) : builder_(&builder), index_(index) {}
  std::uint32_t index() const { return index_; }
  const detail::Builder& builder() const { return *builder_; }

 private:
  detail::Builder* builder_;
  std::uint32_t index_;
};

}  // namespace dag
