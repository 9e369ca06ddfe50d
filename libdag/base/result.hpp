#pragma once
// Result<T>: a value, or an Error in its place. (Debian 12's C++20 has no std::expected.)

#include <utility>
#include <variant>

#include "dag/error.hpp"
#include "libdag/base/check.hpp"

namespace dag {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return content_.index() == 0; }
  /// The value. Calling it without a value is a bug of the caller.
  T& value() & {
    DAG_CHECK(content_.index() == 0);
    return *std::get_if<0>(&content_);
  }
  const T& value() const& {
    DAG_CHECK(content_.index() == 0);
    return *std::get_if<0>(&content_);
  }
  T&& value() && {
    DAG_CHECK(content_.index() == 0);
    return std::move(*std::get_if<0>(&content_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const {
    DAG_CHECK(content_.index() == 1);
    return *std::get_if<1>(&content_);
  }
  /// For the border to users: the value, or its error as an exception.
  T value_or_throw() && {
    if (content_.index() == 1) throw Failure(error());
    return std::move(*std::get_if<0>(&content_));
  }

 private:
  std::variant<T, Error> content_;
};

/// A Result of an operation without a value.
struct Done {};
using Status = Result<Done>;

}  // namespace dag
