#pragma once
// The job's runner and homes in one process, and the routing of their messages. A machine: events come in,
// effects go out. The record of the job is its host's: a Cell, or a copy of one (TellCell).
//
// An event of one machine is handled at once. A message, or the time, may be for several machines: then each
// of them handles it in a step of its own, and the host carries effects out between two steps, since lanes go
// on meanwhile. When no machine has anything left to handle, a step answers a process that asked for work:
// the lanes have their rows by then.
//
//   job.on_message(from, message);
//   while (job.step(now)) carry_out(job.take_effects());
//
// or all steps at once, and what machines here say to each other with them, until nothing leaves:
//
//   for (auto effects = job.run(now); !effects.empty(); effects = job.run(now)) carry_out(effects);
//
// A host that brings such messages back late itself takes them as any SendMessage.
//
// Why `run` ends: a machine says something to another one here because something else changed, and each
// change is one of a row, an attempt or an output, whose changes are bounded (home.hpp, runner.hpp).

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "libdag/here/home_here.hpp"
#include "libdag/here/job_effects.hpp"
#include "libdag/here/lender.hpp"

namespace dag {

class JobHere {
 public:
  /// All but the options is kept by reference.
  JobHere(RunnerOptions options, std::shared_ptr<const JobPlan> plan, JobPorts& ports, EventSink& records);

  /// To be called when the job is known here: messages wait until then.
  void open();
  Admission on_message(Life from, JobMessage message);
  void on_time(Instant now);
  /// Lets a machine handle an event that waits for it; if none waits, answers a thief. False: nothing was
  /// done.
  bool step(Instant now);
  /// All events, and all messages of machines here to each other; then, if nothing leaves, answers thieves.
  std::vector<JobEffect> run(Instant now);

  // Events of one machine.
  void on_lanes(std::uint32_t shard, LaneReport report, Instant now);
  /// Home::on_reach of one home.
  void on_reach(std::uint32_t shard, std::vector<Life> lives, Instant now, bool others_by_link);
  /// Goes to the machine that started the attempt. False: that machine does not want to know any more.
  bool on_ended(AttemptEnd ended, Instant now);
  void on_checkpoint(TaskId task, AttemptId id, Saved saved);
  void on_digest(const OutputName& name, std::uint64_t digest);
  void bring(std::uint64_t ticket, const OutcomeRecord& record, std::vector<Life> holders, Instant now);
  /// Before the first state: a save that this process has on its disk.
  void found(KeepSave save) { runner_.found(std::move(save)); }
  /// An output that the job begins with.
  void publish(OutcomeRecord record, Blob bytes);

  std::vector<JobEffect> take_effects();
  std::optional<Instant> wake_at() const;

  // To look at.
  const message::JobState& state() const { return router_.state(); }
  const JobRouter& router() const { return router_; }
  const Runner& runner() const { return runner_; }
  const HomesHere& homes() const { return homes_; }
  bool asks(Life thief) const { return lender_.asks(thief); }
  /// All that homes and the runner know of these tasks.
  void explain(const TaskSelector& wanted, Instant now, ProcessExplained& to) const;
  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  /// The time has come for a machine: a home, or the runner.
  struct Woken {
    std::optional<std::uint32_t> shard;
  };
  using Event = std::variant<JobRoute, Woken>;

  void take_routes();
  /// A home that has ended hears nothing.
  template <class Tell>
  void tell_home(std::uint32_t shard, Tell&& tell);
  bool handle_next(Instant now);
  bool answer_thief(Instant now);
  void carry_out(JobRoute& route, Instant now);
  void hand_on(HandOn& event, Instant now);
  void begin_home(const BeginHome& which, Instant now);
  void end_home(std::uint32_t shard);
  void wake(const Woken& woken, Instant now);
  void look();
  void look_at_home(std::uint32_t shard, Home& home);
  void look_at_runner();

  const Life self_;
  JobPorts& ports_;
  JobRouter router_;
  Runner runner_;
  HomesHere homes_;
  Lender lender_;
  std::deque<Event> waiting_;
  std::vector<JobEffect> effects_;
};

}  // namespace dag
