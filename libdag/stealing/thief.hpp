#pragma once
// Decides which process an idle process asks for work, and when. Within a process lanes climb the ladder of
// placement/topology.hpp by themselves, without asking.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// A question is open for this time: the victim answers within it when it has work to give, or not at all.
/// Not longer, because the thief may have found work of its own meanwhile.
inline constexpr Duration question_open_for = std::chrono::milliseconds(5);

/// A process that might have work. Gossip: a few heartbeats old.
struct VictimView {
  Life life;
  /// Distance: 0 for this host, 1 for others. Nearer ones are asked first.
  std::uint32_t rung = 0;
  /// Zero: it reported no work, or has not reported yet.
  std::uint32_t tasks_ready = 0;
  /// Time until its own lanes would get to the last of them.
  Duration wait{0};
  /// Time from question to answer.
  Duration round_trip{0};
};

struct ThiefOptions {
  /// Pause after a question without an answer; doubles with each further one. So a thief finds new
  /// work at the latest after twice the time that the work took to appear, and sends ten messages a
  /// second.
  Duration pause_after_refusal = std::chrono::milliseconds(1);
  Duration pause_max = std::chrono::milliseconds(100);
  /// A question without an answer for this time counts as refused; work that comes later is run all the same.
  Duration answer_within = question_open_for;
};

/// Asks a single victim at a time. Ends: each question is answered or given up after `answer_within`, and
/// while no process has work, the pauses between questions grow.
class ThiefMachine {
 public:
  explicit ThiefMachine(ThiefOptions options = {}) : options_(options) {}

  /// Called when a lane is idle. Prefers victims known to have work that waits for longer than it would
  /// travel, then those with the fewest refusals, then the nearest; without any, other processes in the same
  /// order, since gossip is late. Empty while a question is open, and in pauses.
  std::optional<Life> next(const std::vector<VictimView>& views, Instant now);

  /// Work came from there. (Work that comes after the question was given up is ours to run, too.)
  void on_work(Life victim);
  void on_member_down(Life victim);
  /// Earlier refusals say nothing about a new job.
  void on_new_job();
  /// The victim asked last, while it has not answered.
  const std::optional<Life>& open() const { return open_; }
  /// When `next` may have a victim again with unchanged views; empty: only when views change.
  std::optional<Instant> wake_at() const;

 private:
  void refused(Life victim, Instant now);

  ThiefOptions options_;
  std::optional<Life> open_;
  Instant open_until_;
  // Refusals since the last answer with work.
  std::map<Life, std::uint32_t> refusals_;  ///< of lives that are up: at most one per member
  Duration pause_{0};
  Instant pause_until_;
};

}  // namespace dag
