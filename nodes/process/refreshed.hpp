#pragma once
// Caches a value that is expensive to read and changes slowly; reads it again when it is old.

#include <functional>
#include <optional>
#include <utility>

#include "libdag/base/time.hpp"

namespace dag {

template <class Value>
class Refreshed {
 public:
  Refreshed(Duration every, std::function<Value()> read) : every_(every), read_(std::move(read)) {}

  /// Not older than `every` at that time, which never goes back.
  const Value& at(Instant now) {
    if (!value_ || now - read_at_ >= every_) {
      value_ = read_();
      read_at_ = now;
    }
    return *value_;
  }

 private:
  const Duration every_;
  const std::function<Value()> read_;
  std::optional<Value> value_;
  Instant read_at_;
};

}  // namespace dag
