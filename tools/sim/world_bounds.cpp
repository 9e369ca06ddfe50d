// I12: what is kept has bounds, and an end: behind a job nothing is left of what it had under way.

#include "tools/sim/world.hpp"

namespace dag::sim {

namespace {

/// The most messages that wait at the door of one process.
constexpr std::size_t door_waiting_max = 400;
/// So late comes what was sent when all was not calm.
constexpr Duration messages_take = std::chrono::milliseconds(301);
/// Two stragglers may run one behind the other, for nothing; and what was made again is kept for ten seconds
/// more (revived_for).
constexpr Duration quiet_within = std::chrono::seconds(25);

}  // namespace

/// The log's length behind the last snapshot is bounded.
void World::check_log_length(const CellReplica& replica) const {
  if (!replica.log().snapshot()) return;
  const std::uint64_t applied_since = replica.applied() - replica.log().snapshot()->index;
  if (applied_since > options_.replica.compact_every)
    throw Violation(std::to_string(applied_since) + " applied entries are kept, and " +
                    std::to_string(options_.replica.compact_every) + " were to be");
}

void World::note_waiting(Process& process, Life from, const JobMessage& message) {
  trace_message("waits at the door", from, process.life, message);
  if (process.job->router().waiting() > door_waiting_max)
    throw Violation("more than " + std::to_string(door_waiting_max) + " messages wait at the door of " +
                    to_string(process.life));
}

/// Behind the end of the seed, of which the history is told without it. Nobody dies on purpose any more, and
/// nobody asks for work. At first the job has ended, and its processes keep what it left, as long as somebody
/// may want that; then it is closed.
void World::settle() {
  const std::uint64_t history = trace_.hash;
  const auto seen_in_history = seen;
  settling_ = true;
  // An event passed after the look that found that all is over: it may have been a clock.
  for (const auto& process : processes_) {
    if (!process->up || process->replica == nullptr) continue;
    process->replica_timer.reset();
    drain_replica(*process);
  }
  run_until_quiet(&World::left_running, messages_take);
  close_job();
  run_until_quiet(&World::left_when_closed, Duration{0});
  trace_.hash = history;
  seen = seen_in_history;
}

/// A leader that is lost takes along what was not settled, so it is said until it is.
void World::close_job() {
  if (!replicated()) {
    cell_->close();
    return drain_cell();
  }
  const Process* leader = leading();
  if (leader != nullptr && leader->replica->cell()->state().ended) return;
  to_leader([](CellReplica& cell, Instant now_there) { return cell.close(now_there); });
  events_.after(std::chrono::milliseconds(100), [this] { close_job(); });
}

void World::run_until_quiet(std::string (World::*left)() const, Duration least) {
  constexpr Duration look_every = std::chrono::milliseconds(10);
  const Instant give_up_at = std::max(now(), options_.calm_at) + quiet_within;
  for (Instant until = now() + least;; until = until + look_every) {
    while (!events_.empty() && events_.next_at() <= until) step();
    const std::string still = (this->*left)();
    if (still.empty()) return;
    if (until > give_up_at) throw Violation("behind the end of the job " + still + ": " + stuck());
  }
}

/// The work that a process still has. Messages at its door do not count: the word of somebody who died, or
/// led no more, before anybody had said here that he takes part, stays there until he does.
std::string World::left_running() const {
  for (const auto& process : processes_) {
    if (!process->up) continue;
    const std::string here = " at " + to_string(process->life);
    if (process->job->runner().attempts_now() > 0) return "an attempt is left" + here;
    if (process->job->runner().wake_at()) return "a runner waits for something" + here;
    if (!process->queue.empty()) return "something waits for a lane" + here;
    if (process->lanes_busy > 0) return "a lane is busy" + here;
    for (const auto& [shard, box] : process->homes) {
      if (!process->state().ended && box->home.counts().lent > 0) return "a home waits for an attempt" + here;
      if (box->home.wake_at()) return "a home waits for something" + here;
    }
  }
  return {};
}

std::string World::left_when_closed() const {
  for (const auto& process : processes_) {
    if (!process->up || process->state().version == 0)
      continue;  // The process came when there was nothing left to do.
    if (!process->state().ended) return to_string(process->life) + " has not heard that it is closed";
    if (process->job->runner().bytes_held() > 0) return "outputs are held at " + to_string(process->life);
  }
  return left_running();
}

}  // namespace dag::sim
