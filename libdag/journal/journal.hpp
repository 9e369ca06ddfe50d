#pragma once
// The records of one process as a file. Decides how they lie in it, and what can still be read of one that
// was cut off or damaged. When it is written, and how long it is kept, is nodes/journal/journal.hpp's.
//
//   head     magic, process, incarnation, where its clock began, XXH3 of these
//   block    magic, sizes, how many records, how many were dropped before them, XXH3 of these and of what
//            follows: the records (dag/codec.hpp), packed by zstd
//
// A block is complete in itself. Where one cannot be read, reading goes on with the next magic that is
// followed by what its checksum says; so damage costs the blocks that it lies in. A process that is killed
// leaves a file whose last block is there in part.
//
// Alternatives of a record are appended, so what was written before is read; the magic changes when what was
// there before changes (tests/golden).

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dag/codec.hpp"
#include "libdag/base/result.hpp"
#include "libdag/journal/record.hpp"

namespace dag {

struct JournalHead {
  Life process;
  /// What the wall clock said, in ns since 1970, when the process's clock was at zero. Records of two
  /// processes can be laid side by side with it as well as the clocks of their machines agree.
  std::int64_t clock_began_unix_ns = 0;
  bool operator==(const JournalHead&) const = default;
};
std::vector<std::byte> encode_head(const JournalHead& head);

/// The files of a journal are numbered from 1, in the order in which they were begun: journal-12.
std::string journal_file_name(std::uint64_t number);
/// 0: it is no such name.
std::uint64_t journal_file_number(std::string_view name);

/// Collects records until they make a block.
class JournalWriter {
 public:
  JournalWriter();
  ~JournalWriter();

  /// True: that is enough for a block, which must be taken before another one is added.
  bool add(const Record& record);
  /// The bytes of one, as dag/codec.hpp makes them. Whether they are is found out when they are read.
  bool add_encoded(std::span<const std::byte> record);
  /// All that were added, in their order; `dropped` more should have been, and were not. Empty: nothing to
  /// say.
  std::vector<std::byte> take_block(std::uint64_t dropped = 0);

  /// Enough for a block, before it is packed: larger ones hardly pack better. No record is larger, or it is
  /// dropped.
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

 private:
  struct Packer;

  Writer waiting_, one_;
  std::unique_ptr<Packer> packer_;  ///< its memory is used again
  std::uint32_t records_ = 0;
  std::uint64_t too_large_ = 0;
};

/// Bytes that are no block, or none that can be read.
struct JournalGap {
  std::size_t offset = 0, size_bytes = 0;
};
struct JournalRead {
  JournalHead head;
  std::uint64_t records = 0;
  std::uint64_t dropped = 0;     ///< as the blocks say that were read
  std::uint64_t unreadable = 0;  ///< records that whoever made them wrote as none can be
  std::vector<JournalGap> gaps;  ///< in the middle: something was changed or lost
  std::size_t torn_bytes = 0;    ///< at the end: a block that was being written
};
/// Visits the records that can be read, in their order. log_damaged: the file has no head of this version.
Result<JournalRead> read_journal(std::span<const std::byte> file,
                                 const std::function<void(const Record&)>& visit);

}  // namespace dag
