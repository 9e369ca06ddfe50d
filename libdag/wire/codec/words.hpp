#pragma once
// Weighing, writing and reading of the parts that all conversations share. Includes Cap'n Proto, so it is for
// the .cpp files of libdag/wire alone.
//
// Weighing is exact: a frame is written into a buffer of just that many words. Empty texts and lists are not
// written at all (a null pointer reads as empty) and weigh nothing.

#include <capnp/blob.h>
#include <capnp/list.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dag/blob.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/wire/lengths.hpp"

namespace dag::wire {

/// Thrown and caught inside libdag/wire only, as kj::Exception is.
struct Invalid {
  std::string what;
};

template <class Struct>
constexpr std::size_t words_of = Struct::_capnpPrivate::dataWordSize + Struct::_capnpPrivate::pointerCount;

inline std::size_t text_words(std::string_view text) { return text.empty() ? 0 : (text.size() + 8) / 8; }
/// A text that is written even when empty: a member of a union.
inline std::size_t written_text_words(std::string_view text) { return (text.size() + 8) / 8; }
inline std::size_t data_words(const Blob& bytes) { return (bytes.size_bytes() + 7) / 8; }
/// A list of structs, without everything that its elements point to.
template <class Struct>
std::size_t list_words(std::size_t count) {
  return count == 0 ? 0 : 1 + count * words_of<Struct>;
}

inline capnp::Text::Reader as_text(const std::string& text) { return {text.c_str(), text.size()}; }
inline capnp::Data::Reader as_data(const Blob& blob) {
  return {reinterpret_cast<const capnp::byte*>(blob.bytes().data()), blob.size_bytes()};
}

inline std::string text_from(capnp::Text::Reader text, std::size_t bytes_max, const char* field) {
  if (text.size() > bytes_max) {
    throw Invalid{std::string(field) + " has " + std::to_string(text.size()) + " bytes, at most " +
                  std::to_string(bytes_max) + " are taken"};
  }
  return {text.cStr(), text.size()};
}
inline Blob blob_from(capnp::Data::Reader data, std::size_t bytes_max, const char* field) {
  if (data.size() > bytes_max) {
    throw Invalid{std::string(field) + " has " + std::to_string(data.size()) + " bytes, at most " +
                  std::to_string(bytes_max) + " are taken"};
  }
  return Blob(std::as_bytes(std::span(data.begin(), data.size())));
}
/// A list of numbers or truth values.
constexpr std::size_t bits_words(std::size_t count, std::size_t bits_each) {
  return (count * bits_each + 63) / 64;
}

/// Writes a list, unless it is empty. `init(n)` makes it, `write(list, i, value)` writes element i.
template <class Values, class Init, class Write>
void write_list(const Values& values, Init init, Write write) {
  if (values.empty()) return;
  auto list = init(static_cast<unsigned>(values.size()));
  for (unsigned i = 0; i < list.size(); ++i) write(list, i, values[i]);
}

/// Reads a list of numbers or truth values, whose length has been checked. (std::vector does not accept its
/// iterators.)
template <class Value, class List>
std::vector<Value> values_from(List list) {
  std::vector<Value> values;
  values.reserve(list.size());
  for (const auto value : list) values.push_back(value);
  return values;
}

/// An index whose greatest number is `none`, for a field whose zero means none.
constexpr std::uint32_t plus_one(std::uint32_t index) { return index + 1; }
constexpr std::uint32_t minus_one(std::uint32_t field) { return field - 1; }

/// Throws before anything is allocated for the elements.
inline void check_count(std::size_t count, std::size_t count_max, const char* field) {
  if (count > count_max) {
    throw Invalid{std::string(field) + " has " + std::to_string(count) + " elements, at most " +
                  std::to_string(count_max) + " are taken"};
  }
}

constexpr std::uint64_t joined(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}
constexpr std::uint32_t high_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
constexpr std::uint32_t low_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

constexpr std::uint64_t word_of(Life life) { return joined(life.process.value, life.incarnation.value); }
constexpr std::uint64_t word_of(TaskId task) { return joined(task.origin, task.index); }
constexpr std::uint64_t word_of(Epoch epoch) { return joined(epoch.term, epoch.count); }
constexpr Life life_from(std::uint64_t word) { return {ProcessId{high_of(word)}, Incarnation{low_of(word)}}; }
constexpr TaskId task_from(std::uint64_t word) { return {high_of(word), low_of(word)}; }
constexpr Epoch epoch_from(std::uint64_t word) { return {high_of(word), low_of(word)}; }

}  // namespace dag::wire
