#pragma once
// The events of a process as a file. Decides the file's layout, and how much is readable after a cut or
// damage. nodes/journal/journal.hpp decides when the file is written and how long it is kept.
//
//   head     magic, process, incarnation, where its clock began, XXH3 of these
//   block    magic, sizes, how many events, how many were dropped before them, XXH3 of these and of what
//            follows: the events (dag/codec.hpp), packed by zstd
//
// A block is complete in itself. Behind an unreadable block, reading goes on at the next magic with a
// matching checksum, so damage costs only the blocks that it touches. A process that is killed leaves a file
// whose last block is incomplete.
//
// Alternatives of an event are only appended, so older files stay readable; the magic changes when an older
// alternative changes (tests/golden).

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dag/codec.hpp"
#include "libdag/base/result.hpp"
#include "libdag/journal/event.hpp"

namespace dag {

struct JournalHead {
  Life process;
  /// Wall clock in ns since 1970 at zero of the process's clock. It puts events of two processes in order,
  /// as well as the clocks of their machines agree.
  std::int64_t clock_began_unix_ns = 0;
  bool operator==(const JournalHead&) const = default;
};
std::vector<std::byte> encode_head(const JournalHead& head);

/// The files of a journal are numbered from 1, in the order in which they were begun: journal-12.
std::string journal_file_name(std::uint64_t number);
/// 0: the text is no such name.
std::uint64_t journal_file_number(std::string_view name);

/// Collects events until they make a block.
class JournalWriter {
 public:
  JournalWriter();
  ~JournalWriter();

  /// True: the block is full, and must be taken before another event is added.
  bool add(const JournalEvent& record);
  /// Adds an event as bytes of dag/codec.hpp. They are checked only when they are read.
  bool add_encoded(std::span<const std::byte> record);
  /// All events added, in order; `dropped` more should have been added, and were not. Empty: nothing to
  /// write.
  std::vector<std::byte> take_block(std::uint64_t dropped = 0);

  /// A block's size before packing: larger blocks hardly pack better. A larger event is
  /// dropped.
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

 private:
  struct Packer;

  Writer waiting_, one_;
  std::unique_ptr<Packer> packer_;  ///< kept for its memory
  std::uint32_t records_ = 0;
  std::uint64_t too_large_ = 0;
};

/// Bytes that are no readable block.
struct JournalGap {
  std::size_t offset = 0, size_bytes = 0;
};
struct JournalRead {
  JournalHead head;
  std::uint64_t records = 0;
  std::uint64_t dropped = 0;     ///< by the blocks that were read
  std::uint64_t unreadable = 0;  ///< events whose bytes their writer left invalid
  std::vector<JournalGap> gaps;  ///< in the middle: bytes were changed or lost
  std::size_t torn_bytes = 0;    ///< at the end: a block that was being written
};
/// Visits the events that can be read, in their order. log_damaged: the file has no head of this version.
Result<JournalRead> read_journal(std::span<const std::byte> file,
                                 const std::function<void(const JournalEvent&)>& visit);

}  // namespace dag
