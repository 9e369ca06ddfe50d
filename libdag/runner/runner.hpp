#pragma once
// The runner of a job in one process: takes attempts that homes elsewhere lend, gets their inputs, has them
// run, and holds what they left until it is released; serves copies of outputs to other processes, and gets
// copies for this one. A machine; actors/ drives it.
//
// An attempt is accepted once: after it was run, refused or returned it is not taken again, so a repeated
// Lend changes nothing. Each taken attempt ends: its inputs come, or every holder is dead or says Missing,
// then the home of the input is asked (Need) and asked again when that home changes; it answers Located, with
// new holders or with the loss. The home of the attempt may say Stop at any time.
//
// Digests of large outputs are taken later (TakeDigest): tasks that wait for the output do not wait for its
// digest, only the record does. The home gets the digest by Digested; its successor by the report or, when
// the report came first, by Digested too.
//
// Exclusive attempts run under the lease of this process (supervision/lease.hpp): none begins before there is
// a lease, and if the lease cannot be renewed in time the process has to end (LeaseLost). Where the record
// lies in this process alone no other process could run them.
//
// The runner does not leak: reports to homes name everything it holds, and a home releases what it does not
// need. When the job ends, all of it goes.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "libdag/base/planted.hpp"
#include "libdag/job/effects.hpp"
#include "libdag/job/explained.hpp"
#include "libdag/job/held_outputs.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/journal/sink.hpp"
#include "libdag/placement/duration_predictor.hpp"
#include "libdag/supervision/lease.hpp"

namespace dag {

/// Bugs that the simulator must find: each leaves out one rule of runners.
enum class PlantedInRunner : std::uint8_t {
  nothing,
  attempt_accepted_twice,  ///< a repeated Lend is run again
  generation_ignored,      ///< an old call is run on a restored actor
  lease_not_looked_at,     ///< a process whose lease is over goes on
  fetch_mixes_attempts,    ///< a process without the output that is asked for gives that of another attempt
  stop_forgotten,          ///< a runner keeps an attempt that was stopped before a lane had begun it
  lease_kept,              ///< a process renews its lease when nothing runs under it any more
  // Only check_invariants sees these.
  released_bytes_counted,  ///< bytes of released outputs count as held
  stopped_attempt_waits,   ///< a stopped attempt goes on waiting for its inputs
};

struct RunnerOptions {
  Life self;
  PlantedInRunner planted = PlantedInRunner::nothing;
  /// A question that is not answered is asked again after this time.
  Duration ask_again = std::chrono::milliseconds(500);
  std::size_t digest_at_once_bytes_max = dag::digest_at_once_bytes_max;
  /// If an attempt ends while as many others as there are lanes are still to end, its end is sent together
  /// with later ones: each message to another process wakes six threads, and there is other work meanwhile.
  /// Ends of job actors' calls do not wait, since the next call waits for them.
  std::uint32_t lanes = 1;
  Duration ends_wait_max = std::chrono::microseconds(500);
  Duration lease = exclusive_lease;
};

/// The bytes of an output that bring() asked for, or why they cannot be had.
struct Brought {
  std::uint64_t ticket = 0;
  OutputName name;
  Blob bytes;
  std::optional<Error> lost;
};
/// Digest these bytes beside the mailbox of the machine's driver, then call on_digest.
struct TakeDigest {
  OutputName name;
  Blob bytes;
};
/// Ends this process now: other processes may soon run its exclusive tasks again.
struct LeaseLost {
  TaskId task;  ///< one of those tasks
};
using RunnerEffect =
    std::variant<StartAttempt, StopAttempt, SendMessage, Brought, KeepSave, TakeDigest, LeaseLost>;

class Runner {
 public:
  Runner(RunnerOptions options, std::shared_ptr<const JobPlan> plan, EventSink& records);

  void on_state(const message::JobState& state, Instant now);
  /// Any message whose Recipient is `runner`.
  void on_message(Life from, const JobMessage& message, Instant now);
  /// The end of an attempt. False: the runner did not start it (then a home did).
  bool on_ended(AttemptEnd ended, Instant now);
  /// The attempt waits for a lane, and may be given to a process that asked for work.
  bool may_give(const OutputName& attempt) const;
  /// An attempt that may, and was taken: its home hands it to the thief. `on_ended` does not come for it.
  void give(const OutputName& attempt, Life thief);
  /// The mean run time of attempts that ended here; nothing before one has.
  std::optional<Duration> mean_run() const;
  /// An attempt of this runner saved its state. Nothing comes of it when the attempt is not wanted any more.
  void on_checkpoint(TaskId task, AttemptId id, Saved saved);
  /// To be called before the first state: a save that this process has on disk.
  void found(KeepSave save);
  /// The answer to TakeDigest.
  void on_digest(const OutputName& name, std::uint64_t digest);
  void on_time(Instant now);
  std::optional<Instant> wake_at() const;
  /// Time by which this process has to have ended, unless its lease is renewed. None: nothing runs under the
  /// lease.
  std::optional<Instant> ends_by() const {
    return under_lease_ ? std::optional(lease_.over_at()) : std::nullopt;
  }

  /// A home of this process makes this output available to other processes. If the record says so, the home
  /// is told the digest.
  void publish(OutcomeRecord record, Blob bytes);
  /// Gets the bytes of a settled output, for a client of this process: ends in one Brought, at the latest
  /// when the job is stopped or closed.
  void bring(std::uint64_t ticket, const OutcomeRecord& record, std::vector<Life> holders, Instant now);
  /// Bytes of outputs held here. (A Report to a new home is sent by on_state. Before the shell sends one, it
  /// lets `vouch` of each home of this process add to it.)
  std::uint64_t bytes_held() const { return bytes_held_; }
  std::size_t attempts_now() const { return attempts_.size(); }
  bool has(const OutputName& attempt) const { return attempts_.contains(attempt); }
  /// Adds the attempts here that the selector takes.
  void explain(const TaskSelector& wanted, Instant now, std::vector<TaskExplained>& to) const;
  void count_held(HeldSum& sum) const;

  std::vector<RunnerEffect> take_effects();
  /// Throws Bug when a rule is broken. The rules hold between two events.
  void check_invariants() const;

 private:
  struct Held {
    OutcomeRecord record;
    Blob bytes;
    bool ran_here = false;  ///< the record is ours to keep until it is released
  };
  struct Taken {
    message::Lend lend;
    std::set<std::uint32_t> open;  ///< of lend.wanted: not here yet
    Instant since;
    std::uint64_t came_bytes = 0;  ///< size of the fetched ones of lend.wanted
    bool started = false;
    std::uint32_t checkpoints = 0;  ///< states that the attempt saved so far
  };
  /// An attempt that nobody wants any more.
  struct Stopping {
    std::uint32_t shard = 0;
    bool needs_lease = false;
  };
  /// An output that is waited for here.
  struct Sought {
    std::uint32_t shard = 0;
    OutputName under;  ///< the name that holders know it by: of the task that the row became
    std::vector<Life> holders;
    std::vector<Life> gone;
    std::optional<Life> asked;  ///< a Fetch is under way to it
    bool home_asked = false;
    Instant ask_again_at;
    std::set<OutputName> attempts;  ///< taken attempts that wait
    std::vector<std::uint64_t> tickets;
    std::vector<message::Replicate> replicas;
  };

  static Error why_over(const message::JobState& state);
  static OutcomeRecord saved_record(const OutputName& name, std::vector<OutputName> inputs,
                                    const Saved& saved);
  void take(const message::Lend& lend, Instant now);
  void start_if_complete(Taken& taken, Instant now);
  bool needs_lease(const Taken& taken) const;
  void ask_for_lease(Instant now);
  void look_at_lease(Instant now);
  void supersede(std::uint32_t actor, AttemptId newest);
  void seek(const OutputName& name, std::uint32_t shard, const std::vector<Life>& holders, Instant now);
  void pursue(const OutputName& name, Sought& sought, Instant now);
  void arrived(const OutputName& name, const OutcomeRecord& record, Blob bytes, Instant now);
  void give_up(const OutputName& name, const Error& why, Instant now);
  void give_back(const OutputName& name, std::vector<OutputName> missing, std::string why,
                 std::optional<Life> thief = std::nullopt);
  void hold(OutcomeRecord record, Blob bytes, bool ran_here);
  void let_go(const OutputName& name);
  void take_missing_digests(std::uint32_t shard);
  void report(std::uint32_t shard);
  void keep(const message::Replicate& replicate, Blob bytes);
  void send(Life to, JobMessage message);
  void send_ends();
  void stop(const message::Stop& order);
  void stop_waiting(const OutputName& attempt);
  void say_stopped(const OutputName& name, std::uint32_t shard);
  bool alive(Life life) const;
  void check_over() const;
  void check_held() const;
  void check_attempts() const;
  void check_attempt(const OutputName& name, const Taken& taken) const;
  void check_sought() const;
  /// `what` makes the event for the journal; it is not called when nothing listens.
  template <class What>
  void say(TaskId task, AttemptId attempt, Instant now, What&& what) {
    if (!records_.enabled()) return;
    records_.record({now, {options_.self.process, std::nullopt}, plan_->job, task, attempt, what()});
  }

  RunnerOptions options_;
  std::shared_ptr<const JobPlan> plan_;
  EventSink& records_;
  message::JobState state_;
  std::map<OutputName, Held> held_;
  std::map<OutputName, Taken> attempts_;
  /// Stopped attempts whose kernels may run on: their homes are told when the kernels have returned.
  std::map<OutputName, Stopping> stopping_;
  std::map<OutputName, Sought> sought_;
  /// Attempts ever taken, by the shard and epoch that issued them: forgotten with the epoch.
  std::map<std::uint32_t, std::map<Epoch, std::set<OutputName>>> accepted_;
  std::map<std::uint32_t, AttemptId> generations_;  ///< of the actors whose objects are here
  std::uint64_t bytes_held_ = 0;
  DurationEstimate runs_;  ///< of the attempts that ended here
  Lease lease_;
  bool under_lease_ = false;          ///< something may run that has to end with it
  std::vector<message::Ended> ends_;  ///< that have not left, oldest first
  Instant ends_leave_at_;
  std::vector<RunnerEffect> effects_;
};

}  // namespace dag
