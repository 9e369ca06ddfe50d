#pragma once
// The port through which records leave. Decides nothing but how much a collecting sink keeps.

#include <cstdint>
#include <deque>

#include "libdag/record/record.hpp"

namespace dag {

/// Called by whoever made the transition, on its thread; a sink that several threads share guards itself. It
/// must neither block nor throw: recording is never a reason why a task does not run.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void record(const Record& record) = 0;
  /// Whether anybody listens. If not, nobody need make a record.
  bool enabled() const { return enabled_; }

 protected:
  explicit RecordSink(bool enabled = true) : enabled_(enabled) {}

 private:
  const bool enabled_;
};

/// Keeps nothing, and wants nothing.
class NullRecordSink final : public RecordSink {
 public:
  NullRecordSink() : RecordSink(false) {}
  void record(const Record&) override {}
};

/// Keeps the newest records in memory, for tests and `dag show`. For one thread.
class CollectingRecordSink final : public RecordSink {
 public:
  explicit CollectingRecordSink(std::size_t records_max = 1'000'000) : records_max_(records_max) {}
  void record(const Record& record) override;
  /// Oldest first.
  const std::deque<Record>& records() const { return records_; }
  /// Older records that had to make room.
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::size_t records_max_;
  std::deque<Record> records_;
  std::uint64_t dropped_ = 0;
};

}  // namespace dag
