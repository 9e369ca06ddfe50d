#pragma once
// Ref: an input that is not decoded until somebody looks, and costs nothing to hand on.

#include <memory>

#include "dag/codec.hpp"

namespace dag {

/// A value of type T by reference to its bytes. As a kernel's parameter it takes an Output<T> or a T; passed
/// on to a spawned task (as a T or a Ref<T>) it shares the bytes instead of copying them.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(Blob blob) : blob_(std::move(blob)) {}
  Ref(const T& value) : blob_(detail::to_blob<T>(value)) {}

  /// The value, decoded at the first look. Valid as long as this Ref.
  const T& operator*() const {
    if (!value_) value_ = std::make_shared<const T>(detail::from_blob<T>(blob_));
    return *value_;
  }
  const T* operator->() const { return &**this; }
  const Blob& blob() const { return blob_; }

 private:
  Blob blob_;
  mutable std::shared_ptr<const T> value_;
};

namespace detail {
template <class T>
struct is_ref : std::false_type {};
template <class T>
struct is_ref<Ref<T>> : std::true_type {
  using value_type = T;
};
}  // namespace detail

}  // namespace dag
