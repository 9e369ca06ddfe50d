#pragma once
// The port through which events leave. Decides nothing but how much a collecting sink keeps.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "libdag/journal/event.hpp"

namespace dag {

/// The events that a sink wants.
enum class Listens : std::uint8_t {
  to_nothing,
  beside_lanes,  ///< all but runs of attempts on lanes, which lanes tell themselves
  to_all
};

/// The state of a job whose record other processes led until now.
struct JobSoFar {
  JobId job;
  /// TasksKnown, and Settled of each task that did more than finish. Lateness is not known any more.
  std::vector<JournalEvent> records;
  /// Number of the other tasks, by name.
  std::map<std::string, std::uint64_t> finished;
};

/// Called on the thread that made the transition; a sink for several threads guards itself. It must neither
/// block nor throw, since recording must never keep a task from running.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void record(const JournalEvent& record) = 0;
  /// FinishedTasks; by default split into Settled, for sinks that do not want them together.
  virtual void record_finished(const JournalEvent& many) {
    each_finished(many, [this](const JournalEvent& one) { record(one); });
  }
  /// For sinks that keep a state of jobs, which continues from here; journals have it from the former
  /// leaders.
  virtual void goes_on(const JobSoFar&) {}
  /// True: wants the edges as well, for questions after the job's end.
  virtual bool wants_graph() const { return false; }
  /// False: nobody listens, and no event need be made.
  bool enabled() const { return listens_ != Listens::to_nothing; }
  /// True: wants runs of attempts as well, which lanes can tell.
  bool wants_runs() const { return listens_ == Listens::to_all; }
  Listens listens() const { return listens_; }

 protected:
  explicit EventSink(Listens listens = Listens::to_all) : listens_(listens) {}

 private:
  const Listens listens_;
};

/// Drops all events.
class NullEventSink final : public EventSink {
 public:
  NullEventSink() : EventSink(Listens::to_nothing) {}
  void record(const JournalEvent&) override {}
};

/// Passes all events to both.
class BothEventSinks final : public EventSink {
 public:
  BothEventSinks(EventSink& one, EventSink& other) : one_(one), other_(other) {}
  void record(const JournalEvent& record) override {
    one_.record(record);
    other_.record(record);
  }
  void record_finished(const JournalEvent& many) override {
    one_.record_finished(many);
    other_.record_finished(many);
  }
  void goes_on(const JobSoFar& job) override {
    one_.goes_on(job);
    other_.goes_on(job);
  }
  bool wants_graph() const override { return one_.wants_graph() || other_.wants_graph(); }

 private:
  EventSink& one_;
  EventSink& other_;
};

/// Keeps the newest events in memory, for tests and `dag show`. For a single thread.
class CollectingEventSink final : public EventSink {
 public:
  explicit CollectingEventSink(std::size_t records_max = 1'000'000) : records_max_(records_max) {}
  void record(const JournalEvent& record) override;
  /// Oldest first.
  const std::deque<JournalEvent>& records() const { return records_; }
  /// Number of older events that were dropped.
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::size_t records_max_;
  std::deque<JournalEvent> records_;
  std::uint64_t dropped_ = 0;
};

}  // namespace dag
