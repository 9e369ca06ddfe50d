#pragma once
// The conditions of conditional edges, as code that works on blobs.

#include <type_traits>

#include "dag/detail/sound.hpp"

namespace dag::detail {

template <class T, class F>
struct PredicateThunk {
  static bool run(const void* function, const Blob& output) {
    if constexpr (std::is_void_v<T>) {
      return call(function, [](auto kernel) { return kernel(); });
    } else {
      return call(function, [&output](auto kernel) { return kernel(from_blob<T>(output)); });
    }
  }
  template <class With>
  static bool call(const void* function, With with) {
    if constexpr (std::is_pointer_v<F>) {
      return static_cast<bool>(with(reinterpret_cast<F>(const_cast<void*>(function))));
    } else {
      return static_cast<bool>(with(F{}));
    }
  }
};

template <class T, class F>
Code predicate_code(F predicate) {
  if constexpr (kernel_is_sound<F>()) {
    if constexpr (predicate_is_sound<T, F>()) {
      const Predicate run = &PredicateThunk<T, F>::run;
      return {reinterpret_cast<const void*>(run), function_address(predicate)};
    }
  }
  return {};
}

}  // namespace dag::detail
