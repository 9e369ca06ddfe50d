#pragma once
// How values become bytes and values again. Known types: arithmetic types and enums, strings, std containers
// and optional/pair/tuple/variant of known types, structs of up to 16 known members (trees of them, too). As
// arguments also std::span<const T> or std::string_view of trivially copyable data, which are read in place.
// A Blob is its own bytes: not encoded, not copied. Any other type needs a `dag::Codec<T>` from its author.
// The bytes are those of this machine (little endian, 64 bit), the same on every node. Their reader must be
// the same binary, which the handshake of nodes checks.

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
#include "dag/detail/travels.hpp"
#include "dag/error.hpp"

namespace dag {

/// Collects the bytes of a value.
class Writer {
 public:
  void append(const void* data, std::size_t size_bytes);
  /// Zero bytes up to the next multiple of `alignment`, counted from the value's beginning.
  void align(std::size_t alignment);
  void count(std::size_t value);
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Starts another value in the same memory.
  void clear() {
    bytes_.clear();
    actors_.clear();
  }

  /// Notes a job actor that the value names: the receiver must be resolved where the actor's calls are.
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
  /// Reads a number of elements of at least `element_bytes` each. Refuses a number that the remaining bytes
  /// cannot hold before anything is allocated for it.
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

/// Reads the next value from `reader`: `dag::decode<T>(reader)`. Throws Failure(value_invalid) when the bytes
/// are no T. A std::string_view or a std::span points into the reader's bytes, and is valid as long as these
/// are.
template <class T>
T decode(Reader& reader);

namespace detail {

template <class T>
concept BulkCopied = (std::is_arithmetic_v<T> && !std::same_as<T, bool>) || std::same_as<T, std::byte>;

}  // namespace detail

/// Appends a value to what `writer` has: `dag::encode(writer, value)`. For `save` of job actors, and for
/// codecs. `dag::decode<T>` reads it back; several values are read in the order in which they were written.
template <class T>
void encode(Writer& writer, const T& value) {
  using namespace detail;
  if constexpr (!must_travel<T>()) {
    // The compiler has been told why.
  } else if constexpr (HasOwnCodec<T>) {
    Codec<T>::encode(writer, value);
  } else if constexpr (Plain<T>) {
    writer.align(alignof(T));
    writer.append(&value, sizeof value);
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) {
    writer.align(8);
    writer.count(value.size());
    writer.append(value.data(), value.size());
  } else if constexpr (std::same_as<T, Blob>) {
    encode(writer, static_cast<bool>(value));
    encode(writer, value.bytes());
  } else if constexpr (is_span<T>::value) {
    using E = std::remove_cv_t<typename T::element_type>;
    writer.align(8);
    writer.count(value.size());
    writer.align(alignof(E));
    writer.append(value.data(), value.size_bytes());
  } else if constexpr (is_vector<T>::value) {
    using E = typename T::value_type;
    writer.align(8);
    writer.count(value.size());
    if constexpr (BulkCopied<E>) {
      writer.align(alignof(E));
      writer.append(value.data(), value.size() * sizeof(E));
    } else {
      for (const E& element : value) encode<E>(writer, element);
    }
  } else if constexpr (is_array<T>::value) {
    for (const auto& element : value) encode(writer, element);
  } else if constexpr (is_optional<T>::value) {
    encode(writer, value.has_value());
    if (value) encode(writer, *value);
  } else if constexpr (is_variant<T>::value) {
    writer.align(8);
    writer.count(value.index());
    std::visit([&](const auto& alternative) { encode(writer, alternative); }, value);
  } else if constexpr (is_tuple_like<T>::value) {
    std::apply([&](const auto&... parts) { (encode(writer, parts), ...); }, value);
  } else if constexpr (Inserted<T>) {
    writer.align(8);
    writer.count(value.size());
    for (const auto& element : value) encode<typename stored<typename T::value_type>::type>(writer, element);
  } else if constexpr (std::same_as<T, std::monostate>) {
  } else {
    std::apply([&](const auto&... parts) { (encode(writer, parts), ...); }, members(value));
  }
}

namespace detail {

template <class T, std::size_t... i>
T decode_parts(Reader& reader, std::index_sequence<i...>) {
  // Braces keep the order of evaluation.
  return T{decode<std::remove_cvref_t<std::tuple_element_t<i, T>>>(reader)...};
}

template <class T, std::size_t i = 0>
T decode_alternative(Reader& reader, std::size_t index) {
  if constexpr (i == std::variant_size_v<T>) {
    throw Failure({ErrorCode::value_invalid, "a variant names an alternative it does not have"});
  } else {
    if (index == i) return T(std::in_place_index<i>, decode<std::variant_alternative_t<i, T>>(reader));
    return decode_alternative<T, i + 1>(reader, index);
  }
}

}  // namespace detail

template <class T>
T decode(Reader& reader) {
  using namespace detail;
  if constexpr (!must_travel<T>()) {
    // The compiler has been told why.
  } else if constexpr (HasOwnCodec<T>) {
    return Codec<T>::decode(reader);
  } else if constexpr (Plain<T>) {
    reader.align(alignof(T));
    T value;
    if constexpr (std::same_as<T, bool>) {
      value = static_cast<unsigned char>(reader.take(1)[0]) != 0;
    } else {
      std::memcpy(&value, reader.take(sizeof value).data(), sizeof value);
    }
    return value;
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) {
    reader.align(8);
    const auto part = reader.take(reader.count());
    return T(reinterpret_cast<const char*>(part.data()), part.size());
  } else if constexpr (std::same_as<T, Blob>) {
    const bool something = decode<bool>(reader);
    const auto bytes = decode<std::span<const std::byte>>(reader);
    return something ? Blob(bytes) : Blob();
  } else if constexpr (is_span<T>::value) {
    using E = std::remove_cv_t<typename T::element_type>;
    reader.align(8);
    const std::size_t n = reader.count(sizeof(E));
    reader.align(alignof(E));
    return T(reinterpret_cast<const E*>(reader.take(n * sizeof(E)).data()), n);
  } else if constexpr (is_vector<T>::value) {
    using E = typename T::value_type;
    reader.align(8);
    if constexpr (BulkCopied<E>) {
      const std::size_t n = reader.count(sizeof(E));
      reader.align(alignof(E));
      T value(n);
      const auto part = reader.take(n * sizeof(E));
      if (n > 0) std::memcpy(value.data(), part.data(), part.size());
      return value;
    } else {
      const std::size_t n = reader.count(std::is_empty_v<E> ? 0 : 1);
      T value;
      for (std::size_t i = 0; i < n; ++i) value.push_back(decode<E>(reader));
      return value;
    }
  } else if constexpr (is_array<T>::value) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return T{(static_cast<void>(i), decode<typename T::value_type>(reader))...};
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (is_optional<T>::value) {
    if (!decode<bool>(reader)) return std::nullopt;
    return decode<typename T::value_type>(reader);
  } else if constexpr (is_variant<T>::value) {
    reader.align(8);
    return decode_alternative<T>(reader, reader.count(0));
  } else if constexpr (is_tuple_like<T>::value) {
    return decode_parts<T>(reader, std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (Inserted<T>) {
    reader.align(8);
    const std::size_t n = reader.count();
    T value;
    for (std::size_t i = 0; i < n; ++i) {
      value.insert(decode<typename stored<typename T::value_type>::type>(reader));
    }
    return value;
  } else if constexpr (std::same_as<T, std::monostate>) {
    return {};
  } else {
    using Members = decltype(members(std::declval<T&>()));
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return T{decode<std::remove_cvref_t<std::tuple_element_t<i, Members>>>(reader)...};
    }
    (std::make_index_sequence<std::tuple_size_v<Members>>{});
  }
}

namespace detail {

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
      return Blob::make(hidden(head + bytes), [&](std::byte* to) {
        const std::uint64_t count = value.size();
        std::memset(to, 0, head);
        std::memcpy(to, &count, sizeof count);
        if (bytes > 0) std::memcpy(to + head, value.data(), bytes);
      });
    }
  }
  Writer writer;
  encode<T>(writer, value);
  const std::span<const std::byte> bytes = writer.bytes();
  return Blob::make(bytes.size(), [bytes](std::byte* to) {
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
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
