#pragma once
// A log on a disk of memory, for tests: written bytes, synced bytes, and those left after a crash.

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "libdag/base/random.hpp"
#include "libdag/log/log_machine.hpp"
#include "libdag/log/recovery.hpp"

namespace dag::log::test {

inline const SegmentHead identity{0xA, 0xB, 0, 0};

/// A record, with a payload of its own.
struct Said {
  JobId job;
  std::uint32_t term = 0;
  std::uint64_t index = 0;
  std::uint8_t type = 0;
  std::string payload;
  bool operator==(const Said&) const = default;
};

inline Said said_of(const Record& record) {
  return {record.job,
          record.term,
          record.index,
          record.type,
          {reinterpret_cast<const char*>(record.payload.data()), record.payload.size()}};
}

inline Record record_of(const Said& said) {
  return {said.job, said.term, said.index, said.type, std::as_bytes(std::span(said.payload))};
}

inline Said said(std::uint64_t index, std::size_t payload_bytes) {
  Said one{{index % 3 + 1},
           static_cast<std::uint32_t>(index / 5 + 1),
           index,
           static_cast<std::uint8_t>(index),
           {}};
  for (std::size_t i = 0; i < payload_bytes; ++i) one.payload += static_cast<char>('a' + (index + i) % 26);
  return one;
}

using Segments = std::map<std::uint64_t, std::vector<std::byte>>;

inline void write(Segments& segments, const Batch& batch, std::size_t segment_bytes) {
  auto& bytes = segments[batch.segment];
  bytes.resize(segment_bytes);
  std::copy(batch.bytes.begin(), batch.bytes.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(batch.offset));
}

/// The result of a start with these.
struct Read {
  std::vector<Said> records;
  Position end;
  bool damaged = false;
};
inline Read read(const Segments& segments) {
  Read result;
  Recovery recovery;
  for (const auto& [number, bytes] : segments) {
    const auto head = read_head(bytes);
    if (!head) {
      // As nodes/disk does: the last one may not have begun.
      result.damaged = !has_no_head(bytes) || number != segments.rbegin()->first;
      break;
    }
    if (!recovery.take(*head, bytes,
                       [&](const Record& record) { result.records.push_back(said_of(record)); })) {
      result.damaged = true;
      break;
    }
  }
  result.end = recovery.end();
  return result;
}

/// A log of so many records in batches of up to three, written and synced.
struct Written {
  static constexpr std::size_t segment_bytes = head_bytes + 2048;

  explicit Written(std::uint64_t records) : machine(identity, options(), {}) {
    for (std::uint64_t index = 1; index <= records; ++index) {
      said_all.push_back(said(index, index * 7 % 90));
      machine.append(record_of(said_all.back()));
      if (index % 3 == 0 || index == records) flush();
    }
  }
  static LogOptions options() { return {segment_bytes, 1 << 16}; }
  void flush() {
    while (const auto batch = machine.next_batch()) {
      write(segments, *batch, segment_bytes);
      last_batch = *batch;
      machine.on_written();
      before_last = in_all;
      in_all = machine.written();
    }
  }

  LogMachine machine;
  Segments segments;
  std::vector<Said> said_all;
  Batch last_batch;
  std::uint64_t in_all = 0, before_last = 0;  ///< records in all batches, and without the last one
};

/// Requires that `read` is the beginning of `said`.
inline void check_prefix(const std::vector<Said>& read, const std::vector<Said>& said) {
  REQUIRE(read.size() <= said.size());
  CHECK(std::equal(read.begin(), read.end(), said.begin()));
}

}  // namespace dag::log::test
