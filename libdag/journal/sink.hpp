#pragma once
// The port through which records leave. Decides nothing but how much a collecting sink keeps.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "libdag/journal/record.hpp"

namespace dag {

/// What a sink wants to be told.
enum class Listens : std::uint8_t {
  to_nothing,
  beside_lanes,  ///< all but that an attempt ran on a lane: lanes tell it by themselves
  to_all
};

/// What a job had come to where others led its record.
struct JobSoFar {
  JobId job;
  /// TasksKnown, and Settled of each task that did more than finish. What was late is not known any more.
  std::vector<Record> records;
  /// Of the others, by name.
  std::map<std::string, std::uint64_t> finished;
};

/// Called by whoever made the transition, on its thread; a sink that several threads share guards itself. It
/// must neither block nor throw: recording is never a reason why a task does not run.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void record(const Record& record) = 0;
  /// FinishedTasks: of each task by itself, for those that do not want them together.
  virtual void record_finished(const Record& many) {
    each_finished(many, [this](const Record& one) { record(one); });
  }
  /// For who keeps what is known of jobs; journals have it from those others. What is recorded goes on from
  /// it.
  virtual void goes_on(const JobSoFar&) {}
  /// Also to what waits for what: for who keeps what is asked when the job is over.
  virtual bool wants_graph() const { return false; }
  /// Whether anybody listens. If not, nobody need make a record.
  bool enabled() const { return listens_ != Listens::to_nothing; }
  /// Also to what lanes can say: that an attempt ran.
  bool wants_runs() const { return listens_ == Listens::to_all; }
  Listens listens() const { return listens_; }

 protected:
  explicit RecordSink(Listens listens = Listens::to_all) : listens_(listens) {}

 private:
  const Listens listens_;
};

/// Keeps nothing, and wants nothing.
class NullRecordSink final : public RecordSink {
 public:
  NullRecordSink() : RecordSink(Listens::to_nothing) {}
  void record(const Record&) override {}
};

/// Both get all.
class BothRecordSinks final : public RecordSink {
 public:
  BothRecordSinks(RecordSink& one, RecordSink& other) : one_(one), other_(other) {}
  void record(const Record& record) override {
    one_.record(record);
    other_.record(record);
  }
  void record_finished(const Record& many) override {
    one_.record_finished(many);
    other_.record_finished(many);
  }
  void goes_on(const JobSoFar& job) override {
    one_.goes_on(job);
    other_.goes_on(job);
  }
  bool wants_graph() const override { return one_.wants_graph() || other_.wants_graph(); }

 private:
  RecordSink& one_;
  RecordSink& other_;
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
