#pragma once
// The simulation's knowledge of all jobs, whichever process runs them: their programs, the attempts that ran,
// settled outcomes. Violations are kept here until the end of the step: actors would make something else of
// an exception.

#include <map>
#include <memory>
#include <set>
#include <string>

#include "libdag/journal/sink.hpp"
#include "nodes/keeper/job_stories.hpp"
#include "tools/sim/program.hpp"
#include "tools/sim/result.hpp"

namespace dag::sim {

/// Bugs to be planted in the surroundings of the actors, and in their construction.
enum class PlantedAround : std::uint8_t {
  nothing,
  written_early,      ///< a node's log reports entries on the disk that are not
  link_forgets,       ///< messages under way when a connection broke are not repeated
  same_life,          ///< a node comes back in the life that it had
  end_not_told,       ///< a node does not hear of every end of its worker processes
  places_untold,      ///< a leader does not tell other nodes the places of the job's processes
  two_geneses,        ///< handles have no keys: of two jobs with one number, clients of one follow the other
  nobody_seems_busy,  ///< a process asked for work does not see how long its kernels have run
};

class Ledger {
 public:
  void add(JobId job, Program& program) { programs_[job] = &program; }
  /// The program of a job that was submitted.
  Program& program(JobId job) { return *programs_.at(job); }
  Program* find(JobId job) {
    const auto found = programs_.find(job);
    return found == programs_.end() ? nullptr : found->second;
  }

  void executed(JobId job, TaskId task, AttemptId id) {
    if (!executed_.insert({job, task, id}).second)
      violate("attempt " + to_string(job) + "/" + to_string(task) + to_string(id) + " was executed twice");
    if (begun_.insert({job, task}).second && cancelled_.contains(job)) {
      violate(to_string(job) + "/" + to_string(task) +
              " began, and a client was told long ago that the job is cancelled");
    }
  }
  /// A client was told that its job is cancelled, and all runners of its tasks have had time to hear so.
  /// Tasks that ended before may have to be run again; no other task begins.
  void cancelled(JobId job) { cancelled_.insert(job); }
  /// Whether one more kernel of the job may take its process down: too many are the end of a job.
  bool may_crash(JobId job) { return ++crashes_[job] <= crashes_max; }
  void settled(JobId job, TaskId task, Outcome outcome) {
    const Outcome before = settled_.try_emplace({job, task}, outcome).first->second;
    if (before != outcome) {
      violate(to_string(job) + "/" + to_string(task) + " was settled as " + std::string(name(before)) +
              " and as " + std::string(name(outcome)));
    }
  }
  void saw(const std::string& what) { ++seen_[what]; }
  void violate(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }
  /// The first thing that must not be.
  const std::string& violation() const { return violation_; }
  const std::map<std::string, std::uint64_t>& seen() const { return seen_; }

  /// Adds a line to the hash of the history: equal histories have equal hashes.
  void trace(const std::string& line) {
    for (const char c : line) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    if (print) std::puts(line.c_str());
  }
  std::uint64_t hash() const { return hash_; }
  bool print = false;
  PlantedAround planted = PlantedAround::nothing;

 private:
  static constexpr std::uint32_t crashes_max = 8;

  std::map<JobId, Program*> programs_;
  std::map<JobId, std::uint32_t> crashes_;
  std::set<std::tuple<JobId, TaskId, AttemptId>> executed_;
  std::set<std::pair<JobId, TaskId>> begun_;
  std::set<JobId> cancelled_;
  std::map<std::pair<JobId, TaskId>, Outcome> settled_;
  std::map<std::string, std::uint64_t> seen_;
  std::string violation_;
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

/// The records of one process.
class LedgerSink final : public EventSink {
 public:
  explicit LedgerSink(Ledger& ledger) : ledger_(ledger) {}
  void record(const JournalEvent& record) override {
    ledger_.trace(to_string(record));
    if (const auto* settled = std::get_if<event::Settled>(&record.what))
      ledger_.settled(record.job, record.task, settled->outcome);
    details.record(record);
  }
  JobStories details;

 private:
  Ledger& ledger_;
};

}  // namespace dag::sim
