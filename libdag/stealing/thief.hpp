#pragma once
// Whom an idle process asks for work, and when. Decides the victim; within a process lanes climb the ladder
// of placement/topology.hpp by themselves, without asking.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// A question is open for this long: the victim answers when it has something to give, or not at all. Not
/// longer, because who asked may have found work of its own meanwhile.
inline constexpr Duration question_open_for = std::chrono::milliseconds(5);

/// What is known of a process that might have work. Gossip: a few heartbeats old.
struct VictimView {
  Life life;
  /// How far it is: 0 for this host, 1 for others. Nearer ones are asked first.
  std::uint32_t rung = 0;
  /// Zero: it said that it has nothing, or has not said anything yet.
  std::uint32_t tasks_ready = 0;
  /// Until its own lanes would get to the last of them.
  Duration wait{0};
  /// To ask it and be answered.
  Duration round_trip{0};
};

struct ThiefOptions {
  /// After a question that gave nothing, and doubling with each further one. So who looks for work that does
  /// not exist yet finds it, at the latest, twice as long after the beginning as it came; and pays ten
  /// messages a second.
  Duration pause_after_refusal = std::chrono::milliseconds(1);
  Duration pause_max = std::chrono::milliseconds(100);
  /// After this it counts as not answered, and as a refusal; what comes later is run all the same.
  Duration answer_within = question_open_for;
};

/// One question to one victim at a time. Ends: each question is answered or given up after `answer_within`,
/// and as long as nobody has anything, the pauses between questions grow.
class ThiefMachine {
 public:
  explicit ThiefMachine(ThiefOptions options = {}) : options_(options) {}

  /// Called when a lane has nothing to do. Of those that are known to have work which waits for longer than
  /// it would be under way, who refused least often, then the nearest; when nobody is, any other in the same
  /// order: gossip is late. Empty when a question is open, and in pauses.
  std::optional<Life> next(const std::vector<VictimView>& views, Instant now);

  /// Work came from there. (What comes after the question was given up is ours to run, too.)
  void on_work(Life victim);
  void on_member_down(Life victim);
  /// What nobody had before says nothing of it.
  void on_new_job();
  /// Who was asked last and has not answered.
  const std::optional<Life>& open() const { return open_; }
  /// When `next` may have something to say again, given unchanged views; empty: only when views change.
  std::optional<Instant> wake_at() const;

 private:
  void refused(Life victim, Instant now);

  ThiefOptions options_;
  std::optional<Life> open_;
  Instant open_until_;
  // Since anybody gave anything.
  std::map<Life, std::uint32_t> refusals_;  ///< of lives that are up: at most one per member
  Duration pause_{0};
  Instant pause_until_;
};

}  // namespace dag
