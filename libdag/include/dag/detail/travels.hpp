#pragma once
// Which types can travel between tasks, and one sentence for each reason why a type cannot. codec.hpp says
// how they travel.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "dag/blob.hpp"
#include "dag/detail/fields.hpp"

namespace dag {

class Writer;
class Reader;

/// Specialise for a type of your own; `dag::encode` and `dag::decode` do its parts:
///   static void encode(dag::Writer& writer, const T& value);
///   static T decode(dag::Reader& reader);
template <class T>
struct Codec;

namespace detail {

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class T>
concept HasOwnCodec = requires(Writer& w, Reader& r, const T& value) {
  Codec<T>::encode(w, value);
  { Codec<T>::decode(r) } -> std::convertible_to<T>;
};

template <class T>
struct is_span : std::false_type {};
template <class T>
struct is_span<std::span<const T>> : std::true_type {};

template <class T>
struct is_writable_span : std::false_type {};
template <class T>
struct is_writable_span<std::span<T>> : std::bool_constant<!std::is_const_v<T>> {};

template <class T>
struct is_vector : std::false_type {};
template <class T, class A>
struct is_vector<std::vector<T, A>> : std::true_type {};

template <class T>
struct is_array : std::false_type {};
template <class T, std::size_t n>
struct is_array<std::array<T, n>> : std::true_type {};

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

template <class T>
struct is_variant : std::false_type {};
template <class... Ts>
struct is_variant<std::variant<Ts...>> : std::true_type {};

template <class T>
struct is_tuple_like : std::false_type {};
template <class A, class B>
struct is_tuple_like<std::pair<A, B>> : std::true_type {};
template <class... Ts>
struct is_tuple_like<std::tuple<Ts...>> : std::true_type {};

/// Sets and maps of the standard library: inserted one by one.
template <class T>
concept Inserted = requires(T container, typename T::value_type value) {
  typename T::key_type;
  container.insert(std::move(value));
  container.size();
};

// A set iterates over const keys, a map over pairs with const keys; this is what is stored of them.
template <class T>
struct stored {
  using type = T;
};
template <class K, class V>
struct stored<std::pair<const K, V>> {
  using type = std::pair<K, V>;
};

template <class T>
concept Aggregate = std::is_aggregate_v<T> && std::is_class_v<T> && !is_array<T>::value && !HasOwnCodec<T>;

/// Why values of a type cannot travel.
enum class Refusal : std::uint8_t {
  nothing,
  c_array,
  base_class,
  many_members,
  text_pointer,
  pointer,
  view,
  writable_span,
  unknown
};

/// A kernel may read an argument in place, but its result outlives what the kernel has made.
enum class Use : std::uint8_t { argument, result };

template <class T, Use use, class... Within>
constexpr Refusal refusal();

template <Use use, class... Within, class... Parts>
constexpr Refusal refusal_of_parts(std::type_identity<std::tuple<Parts...>>) {
  Refusal first = Refusal::nothing;
  static_cast<void>(
      ((first = refusal<std::remove_cvref_t<Parts>, use, Within...>(), first != Refusal::nothing) || ...));
  return first;
}

template <class T, Use use, class... Within>
constexpr Refusal refusal_of_members() {
  if constexpr ((std::same_as<T, Within> || ...)) {
    return Refusal::nothing;  // A tree: it is being looked at already.
  } else if constexpr (has_base<T>()) {
    return Refusal::base_class;
  } else if constexpr (has_c_array<T>()) {
    return Refusal::c_array;
  } else if constexpr (field_count<T>() > fields_max) {
    return Refusal::many_members;
  } else {
    return refusal_of_parts<use, Within..., T>(std::type_identity<decltype(members(std::declval<T&>()))>{});
  }
}

/// The first reason in T and in its parts. `Within`: the aggregates around it.
template <class T, Use use, class... Within>
constexpr Refusal refusal() {
  if constexpr (Plain<T> || HasOwnCodec<T> || std::same_as<T, std::string> ||
                std::same_as<T, std::monostate> || std::same_as<T, Blob>) {
    return Refusal::nothing;
  } else if constexpr (std::is_pointer_v<T>) {
    return std::same_as<std::remove_cv_t<std::remove_pointer_t<T>>, char> ? Refusal::text_pointer
                                                                          : Refusal::pointer;
  } else if constexpr (std::is_array_v<T>) {
    return Refusal::c_array;
  } else if constexpr (std::same_as<T, std::string_view>) {
    return use == Use::result ? Refusal::view : Refusal::nothing;
  } else if constexpr (is_span<T>::value) {
    return use == Use::result                                       ? Refusal::view
           : std::is_trivially_copyable_v<typename T::element_type> ? Refusal::nothing
                                                                    : Refusal::unknown;
  } else if constexpr (is_writable_span<T>::value) {
    return use == Use::result ? Refusal::view : Refusal::writable_span;
  } else if constexpr (is_vector<T>::value || is_array<T>::value || is_optional<T>::value) {
    return refusal<typename T::value_type, use, Within...>();
  } else if constexpr (is_tuple_like<T>::value || is_variant<T>::value) {
    return []<template <class...> class Of, class... Ts>(std::type_identity<Of<Ts...>>) {
      return refusal_of_parts<use, Within...>(std::type_identity<std::tuple<Ts...>>{});
    }(std::type_identity<T>{});
  } else if constexpr (Inserted<T>) {
    return refusal<typename stored<typename T::value_type>::type, use, Within...>();
  } else if constexpr (Aggregate<T>) {
    return refusal_of_members<T, use, Within...>();
  } else {
    return Refusal::unknown;
  }
}

/// Whether values of T can travel as an argument.
template <class T>
constexpr bool encodable() {
  return refusal<T, Use::argument>() == Refusal::nothing;
}

/// The same; where they cannot, the compiler says why, and what to do.
template <class T, Use use = Use::argument>
constexpr bool must_travel() {
  constexpr Refusal why = refusal<T, use>();
  static_assert(
      why != Refusal::c_array,
      "dag: a C array cannot travel between tasks: use std::array or std::vector, or std::string for text");
  static_assert(
      why != Refusal::base_class,
      "dag: a struct with a base class cannot travel between tasks: make the base a member, or write a "
      "dag::Codec<T> for the struct");
  static_assert(
      why != Refusal::many_members,
      "dag: a struct of more than 16 members cannot travel between tasks: group some of them in a struct "
      "of their own, or write a dag::Codec<T> for it");
  static_assert(why != Refusal::text_pointer,
                "dag: a char pointer cannot travel between tasks: use std::string in place of const char*");
  static_assert(
      why != Refusal::pointer,
      "dag: a pointer cannot travel between tasks: use the value that it points to, a std::vector or a "
      "dag::Blob");
  static_assert(
      why != Refusal::view,
      "dag: a result may not be a view (std::string_view, std::span), because what it shows may be gone "
      "when the kernel has returned: return a std::string, a std::vector or a dag::Blob");
  static_assert(why != Refusal::writable_span,
                "dag: a kernel may not write to its inputs, because other tasks read them too: use "
                "std::span<const T> in place of std::span<T>");
  static_assert(
      why != Refusal::unknown,
      "dag: this type cannot travel between tasks. Use arithmetic types, strings, std containers, structs "
      "of those (without constructors and private members), or write a dag::Codec<T> for it.");
  return why == Refusal::nothing;
}

}  // namespace detail
}  // namespace dag
