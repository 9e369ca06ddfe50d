#pragma once
// How values become bytes and values again. Known are: arithmetic types and enums, strings, std containers
// and optional/pair/tuple/variant of known types, aggregates of up to 16 known members, and std::span<const
// T> or std::string_view of trivially copyable data, which are read in place. A Blob is its own bytes: not
// encoded, not copied. Anything else needs a `dag::Codec<T>` of its author. The bytes are those of this
// machine (little endian, 64 bit), the same on every node; whoever reads them must be the same binary, which
// the handshake of nodes makes sure.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "dag/blob.hpp"
#include "dag/error.hpp"

namespace dag {

/// Collects the bytes of a value.
class Writer {
 public:
  void append(const void* data, std::size_t size_bytes) {
    if (size_bytes == 0) return;
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size_bytes);
  }
  /// Zero bytes up to the next multiple of `alignment`, counted from the value's beginning.
  void align(std::size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
  }
  void count(std::size_t value) {
    const std::uint64_t wide = value;
    append(&wide, sizeof wide);
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// For another value, in the same memory.
  void clear() {
    bytes_.clear();
    actors_.clear();
  }

  /// A value that names job actors says so: what receives it must be resolved where the actor's calls are.
  void mention_actor(std::uint32_t actor) { actors_.push_back(actor); }
  const std::vector<std::uint32_t>& actors() const { return actors_; }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::uint32_t> actors_;
};

/// Walks over the bytes of a value. Throws Failure(value_invalid) instead of reading past the end.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> take(std::size_t size_bytes) {
    if (size_bytes > bytes_.size() - at_) {
      throw Failure({ErrorCode::value_invalid, "a value ends before its last byte",
                     "writer and reader must agree: check the Codec, and that both run the same binary"});
    }
    const auto part = bytes_.subspan(at_, size_bytes);
    at_ += size_bytes;
    return part;
  }
  void align(std::size_t alignment) { take((alignment - at_ % alignment) % alignment); }
  /// A number of elements of at least `element_bytes` each: more than could follow is refused before anything
  /// is allocated for them.
  std::size_t count(std::size_t element_bytes = 1) {
    std::uint64_t wide = 0;
    std::memcpy(&wide, take(sizeof wide).data(), sizeof wide);
    if (element_bytes > 0 && wide > (bytes_.size() - at_) / element_bytes) take(bytes_.size() + 1);
    return static_cast<std::size_t>(wide);
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

/// Specialise for a type of your own:
///   static void encode(dag::Writer&, const T&);
///   static T decode(dag::Reader&);
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

struct anything {
  template <class T>
  operator T() const;
};
template <class T, class... Fields>
constexpr std::size_t field_count() {
  if constexpr (sizeof...(Fields) > 16) {
    return 17;
  } else if constexpr (!requires { T{Fields{}..., anything{}}; }) {
    return sizeof...(Fields);
  } else {
    return field_count<T, Fields..., anything>();
  }
}

template <class T>
concept Aggregate = std::is_aggregate_v<T> && std::is_class_v<T> && !is_array<T>::value && !HasOwnCodec<T>;

/// The members of an aggregate as a tuple of references.
template <class T>
constexpr auto members(T& v) {
  constexpr std::size_t n = field_count<std::remove_cv_t<T>>();
  static_assert(n <= 16, "dag: an aggregate with more than 16 members needs a dag::Codec of its own");
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

template <class T>
struct missing_codec : std::false_type {};

template <class T>
constexpr bool encodable();

template <class Tuple, std::size_t... i>
constexpr bool all_encodable(std::index_sequence<i...>) {
  return (encodable<std::remove_cvref_t<std::tuple_element_t<i, Tuple>>>() && ...);
}

/// Whether values of T can travel. Says no for pointers, references and classes nobody described.
template <class T>
constexpr bool encodable() {
  if constexpr (Plain<T> || HasOwnCodec<T> || std::same_as<T, std::string> ||
                std::same_as<T, std::string_view> || std::same_as<T, std::monostate> ||
                std::same_as<T, Blob>) {
    return true;
  } else if constexpr (is_span<T>::value) {
    return std::is_trivially_copyable_v<typename T::element_type>;
  } else if constexpr (is_vector<T>::value || is_array<T>::value || is_optional<T>::value) {
    return encodable<typename T::value_type>();
  } else if constexpr (is_tuple_like<T>::value || is_variant<T>::value) {
    return []<template <class...> class Of, class... Ts>(std::type_identity<Of<Ts...>>) {
      return (encodable<Ts>() && ...);
    }(std::type_identity<T>{});
  } else if constexpr (Inserted<T>) {
    return encodable<typename stored<typename T::value_type>::type>();
  } else if constexpr (Aggregate<T>) {
    using Members = decltype(members(std::declval<T&>()));
    return all_encodable<Members>(std::make_index_sequence<std::tuple_size_v<Members>>{});
  } else {
    return false;
  }
}

template <class T>
concept BulkCopied = (std::is_arithmetic_v<T> && !std::same_as<T, bool>) || std::same_as<T, std::byte>;

template <class T>
void encode(Writer& w, const T& value) {
  static_assert(
      encodable<T>(),
      "dag: this type cannot travel between tasks. Use arithmetic types, strings, std containers, aggregates "
      "of those, or write a dag::Codec<T> for it.");
  if constexpr (!encodable<T>()) {
    // The assertion above has said it.
  } else if constexpr (HasOwnCodec<T>) {
    Codec<T>::encode(w, value);
  } else if constexpr (Plain<T>) {
    w.align(alignof(T));
    w.append(&value, sizeof value);
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) {
    w.align(8);
    w.count(value.size());
    w.append(value.data(), value.size());
  } else if constexpr (std::same_as<T, Blob>) {
    encode(w, static_cast<bool>(value));
    encode(w, value.bytes());
  } else if constexpr (is_span<T>::value) {
    using E = std::remove_cv_t<typename T::element_type>;
    w.align(8);
    w.count(value.size());
    w.align(alignof(E));
    w.append(value.data(), value.size_bytes());
  } else if constexpr (is_vector<T>::value) {
    using E = typename T::value_type;
    w.align(8);
    w.count(value.size());
    if constexpr (BulkCopied<E>) {
      w.align(alignof(E));
      w.append(value.data(), value.size() * sizeof(E));
    } else {
      for (const E& element : value) encode<E>(w, element);
    }
  } else if constexpr (is_array<T>::value) {
    for (const auto& element : value) encode(w, element);
  } else if constexpr (is_optional<T>::value) {
    encode(w, value.has_value());
    if (value) encode(w, *value);
  } else if constexpr (is_variant<T>::value) {
    w.align(8);
    w.count(value.index());
    std::visit([&](const auto& alternative) { encode(w, alternative); }, value);
  } else if constexpr (is_tuple_like<T>::value) {
    std::apply([&](const auto&... parts) { (encode(w, parts), ...); }, value);
  } else if constexpr (Inserted<T>) {
    w.align(8);
    w.count(value.size());
    for (const auto& element : value) encode<typename stored<typename T::value_type>::type>(w, element);
  } else if constexpr (std::same_as<T, std::monostate>) {
  } else {
    std::apply([&](const auto&... parts) { (encode(w, parts), ...); }, members(value));
  }
}

template <class T>
T decode(Reader& r);

template <class T, std::size_t... i>
T decode_parts(Reader& r, std::index_sequence<i...>) {
  // Braces keep the order of evaluation.
  return T{decode<std::remove_cvref_t<std::tuple_element_t<i, T>>>(r)...};
}

template <class T, std::size_t i = 0>
T decode_alternative(Reader& r, std::size_t index) {
  if constexpr (i == std::variant_size_v<T>) {
    throw Failure({ErrorCode::value_invalid, "a variant names an alternative it does not have"});
  } else {
    if (index == i) return T(std::in_place_index<i>, decode<std::variant_alternative_t<i, T>>(r));
    return decode_alternative<T, i + 1>(r, index);
  }
}

template <class T>
T decode(Reader& r) {
  static_assert(
      encodable<T>(),
      "dag: this type cannot travel between tasks. Use arithmetic types, strings, std containers, aggregates "
      "of those, or write a dag::Codec<T> for it.");
  if constexpr (HasOwnCodec<T>) {
    return Codec<T>::decode(r);
  } else if constexpr (Plain<T>) {
    r.align(alignof(T));
    T value;
    if constexpr (std::same_as<T, bool>) {
      value = static_cast<unsigned char>(r.take(1)[0]) != 0;
    } else {
      std::memcpy(&value, r.take(sizeof value).data(), sizeof value);
    }
    return value;
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) {
    r.align(8);
    const auto part = r.take(r.count());
    return T(reinterpret_cast<const char*>(part.data()), part.size());
  } else if constexpr (std::same_as<T, Blob>) {
    const bool something = decode<bool>(r);
    const auto bytes = decode<std::span<const std::byte>>(r);
    return something ? Blob(bytes) : Blob();
  } else if constexpr (is_span<T>::value) {
    using E = std::remove_cv_t<typename T::element_type>;
    r.align(8);
    const std::size_t n = r.count(sizeof(E));
    r.align(alignof(E));
    return T(reinterpret_cast<const E*>(r.take(n * sizeof(E)).data()), n);
  } else if constexpr (is_vector<T>::value) {
    using E = typename T::value_type;
    r.align(8);
    if constexpr (BulkCopied<E>) {
      const std::size_t n = r.count(sizeof(E));
      r.align(alignof(E));
      T value(n);
      const auto part = r.take(n * sizeof(E));
      if (n > 0) std::memcpy(value.data(), part.data(), part.size());
      return value;
    } else {
      const std::size_t n = r.count(std::is_empty_v<E> ? 0 : 1);
      T value;
      for (std::size_t i = 0; i < n; ++i) value.push_back(decode<E>(r));
      return value;
    }
  } else if constexpr (is_array<T>::value) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return T{(static_cast<void>(i), decode<typename T::value_type>(r))...};
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (is_optional<T>::value) {
    if (!decode<bool>(r)) return std::nullopt;
    return decode<typename T::value_type>(r);
  } else if constexpr (is_variant<T>::value) {
    r.align(8);
    return decode_alternative<T>(r, r.count(0));
  } else if constexpr (is_tuple_like<T>::value) {
    return decode_parts<T>(r, std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (Inserted<T>) {
    r.align(8);
    const std::size_t n = r.count();
    T value;
    for (std::size_t i = 0; i < n; ++i) {
      value.insert(decode<typename stored<typename T::value_type>::type>(r));
    }
    return value;
  } else if constexpr (std::same_as<T, std::monostate>) {
    return {};
  } else {
    using Members = decltype(members(std::declval<T&>()));
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return T{decode<std::remove_cvref_t<std::tuple_element_t<i, Members>>>(r)...};
    }
    (std::make_index_sequence<std::tuple_size_v<Members>>{});
  }
}

/// A value as a Blob, and back. Trailing bytes are refused: they mean writer and reader disagree.
template <class T>
Blob to_blob(const T& value) {
  if constexpr (Plain<T> && !HasOwnCodec<T>) {
    return Blob(std::as_bytes(std::span(&value, 1)));  // The same bytes, without a buffer between.
  } else if constexpr (std::same_as<T, Blob>) {
    return value ? value : Blob(std::span<const std::byte>());
  } else if constexpr (is_vector<T>::value && !HasOwnCodec<T>) {
    // Likewise: what encode() would write.
    if constexpr (BulkCopied<typename T::value_type>) {
      constexpr std::size_t head = std::max(sizeof(std::uint64_t), alignof(typename T::value_type));
      const std::size_t bytes = value.size() * sizeof(typename T::value_type);
      return Blob::make(head + bytes, [&](std::byte* to) {
        const std::uint64_t count = value.size();
        std::memset(to, 0, head);
        std::memcpy(to, &count, sizeof count);
        if (bytes > 0) std::memcpy(to + head, value.data(), bytes);
      });
    }
  }
  Writer w;
  encode<T>(w, value);
  return Blob::make(w.bytes().size(), [&](std::byte* to) {
    if (!w.bytes().empty()) std::memcpy(to, w.bytes().data(), w.bytes().size());
  });
}
template <class T>
T from_blob(const Blob& blob) {
  if constexpr (Plain<T> && !HasOwnCodec<T> && !std::same_as<T, bool>) {
    if (blob.size_bytes() == sizeof(T)) {
      T value;
      std::memcpy(&value, blob.bytes().data(), sizeof value);
      return value;
    }
  } else if constexpr (std::same_as<T, Blob>) {
    return blob;
  }
  Reader r(blob.bytes());
  T value = decode<T>(r);
  if (!r.at_end()) {
    throw Failure({ErrorCode::value_invalid, "a value is followed by bytes that do not belong to it",
                   "writer and reader must agree: check the Codec, and that both run the same binary"});
  }
  return value;
}

}  // namespace detail
}  // namespace dag
