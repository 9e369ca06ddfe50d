#pragma once
// The members of an aggregate, found by the compiler: how many initialisers it takes, and each member by
// reference. Bases and C arrays are found first, because with either the two do not match.

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace dag::detail {

/// Stands for an initialiser of any type.
struct anything {
  template <class T>
  operator T() const;
};
struct any_class {
  template <class T>
  requires(std::is_class_v<T> || std::is_union_v<T>) operator T() const;
};
struct any_scalar {
  template <class T>
  requires std::is_scalar_v<T>
  operator T() const;
};
template <class T>
struct any_base_of {
  template <class Base>
  requires(std::is_base_of_v<Base, T> && !std::same_as<Base, T>) operator Base() const;
};

inline constexpr std::size_t fields_max = 16;

template <std::size_t>
using anything_at = anything;
template <class T, std::size_t... i>
constexpr bool takes_initialisers(std::index_sequence<i...>) {
  return requires { T{anything_at<i>{}...}; };
}
/// The greatest number of initialisers that fits, because a member without a default must have one. One more
/// than fields_max means too many.
template <class T, std::size_t n = fields_max + 1>
constexpr std::size_t field_count() {
  if constexpr (n == 0 || takes_initialisers<T>(std::make_index_sequence<n>{})) {
    return n;
  } else {
    return field_count<T, n - 1>();
  }
}

template <class T, std::size_t... i>
constexpr bool begins_with_base(std::index_sequence<i...>) {
  return requires { T{any_base_of<T>{}, anything_at<i>{}...}; };
}
/// The first initialiser of an aggregate that has a base is for that base.
template <class T>
constexpr bool has_base() {
  constexpr std::size_t count = field_count<T>();
  if constexpr (count == 0)
    return false;
  else
    return begins_with_base<T>(std::make_index_sequence<count - 1>{});
}

/// True: the members behind `before` begin with an array of numbers or pointers. Braces take two of them, and
/// no class fits.
template <class T, std::size_t... before>
constexpr bool scalar_array_behind(std::index_sequence<before...>) {
  return requires { T{anything_at<before>{}..., {any_scalar{}, any_scalar{}}}; }
  &&!requires { T{anything_at<before>{}..., any_class{}}; };
}
/// As above for an array of classes: without braces each element takes an initialiser. With braces the whole
/// array takes one, so that those `behind` are too many.
template <class T, std::size_t... before, std::size_t... behind>
constexpr bool class_array_behind(std::index_sequence<before...>, std::index_sequence<behind...>) {
  return requires { T{anything_at<before>{}..., {anything{}, anything{}}}; }
  &&!requires { T{anything_at<before>{}..., {anything{}}, anything_at<behind>{}...}; }
  &&!requires { T{anything_at<before>{}..., {}, anything_at<behind>{}...}; };
}

template <class T, std::size_t place = 0>
constexpr bool has_c_array() {
  constexpr std::size_t count = field_count<T>();
  if constexpr (place >= count || place >= fields_max) {
    return false;
  } else if constexpr (scalar_array_behind<T>(std::make_index_sequence<place>{})) {
    return true;
  } else if constexpr (count <= fields_max &&
                       class_array_behind<T>(std::make_index_sequence<place>{},
                                             std::make_index_sequence<count - place - 1>{})) {
    return true;
  } else {
    return has_c_array<T, place + 1>();
  }
}

/// The members of an aggregate, without bases and C arrays, as a tuple of references.
template <class T>
constexpr auto members(T& v) {
  constexpr std::size_t n = field_count<std::remove_cv_t<T>>();
  static_assert(n <= fields_max);
#define DAG_MEMBERS(count, ...)   \
  if constexpr (n == count) {     \
    auto& [__VA_ARGS__] = v;      \
    return std::tie(__VA_ARGS__); \
  } else
  // clang-format off
  if constexpr (n == 0) { return std::tie(); } else
  DAG_MEMBERS(1, a) DAG_MEMBERS(2, a, b) DAG_MEMBERS(3, a, b, c) DAG_MEMBERS(4, a, b, c, d)
  DAG_MEMBERS(5, a, b, c, d, e) DAG_MEMBERS(6, a, b, c, d, e, f) DAG_MEMBERS(7, a, b, c, d, e, f, g)
  DAG_MEMBERS(8, a, b, c, d, e, f, g, h) DAG_MEMBERS(9, a, b, c, d, e, f, g, h, i)
  DAG_MEMBERS(10, a, b, c, d, e, f, g, h, i, j) DAG_MEMBERS(11, a, b, c, d, e, f, g, h, i, j, k)
  DAG_MEMBERS(12, a, b, c, d, e, f, g, h, i, j, k, l) DAG_MEMBERS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  DAG_MEMBERS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, o) DAG_MEMBERS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, o, p)
  DAG_MEMBERS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q) { return std::tie(); }
    // clang-format on
#undef DAG_MEMBERS
}

}  // namespace dag::detail
