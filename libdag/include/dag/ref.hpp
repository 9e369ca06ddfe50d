#pragma once
// Ref: an input that is decoded at the first look, and is handed on without copying.

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
    if (!decoded_) decoded_ = std::make_shared<const Decoded>(blob_);
    return decoded_->value;
  }
  const T* operator->() const { return &**this; }
  const Blob& blob() const { return blob_; }

 private:
  /// A value may point into its bytes, and a small Blob contains its bytes: the two stay together.
  struct Decoded {
    explicit Decoded(const Blob& from) : blob(from), value(detail::from_blob<T>(blob)) {}
    Blob blob;
    T value;
  };

  Blob blob_;
  mutable std::shared_ptr<const Decoded> decoded_;
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
