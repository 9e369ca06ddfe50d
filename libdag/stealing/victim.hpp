#pragma once
// Whom an idle process asks for work. Decides the victim; within a process lanes climb the ladder of
// placement/topology.hpp by themselves, without asking.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// What is known of a process that might have work. Gossip: a few heartbeats old.
struct VictimView {
  Life life;
  /// How far it is: 0 for this host, 1 for others. Nearer ones are asked first.
  std::uint32_t rung = 0;
  std::uint32_t tasks_ready = 0;
  /// Until its own lanes would get to the last of them.
  Duration wait{0};
  /// To ask it and be answered.
  Duration round_trip{0};
};

struct VictimOptions {
  /// After an answer without work, and doubling with each further one: a stale view must not be asked for
  /// ever.
  Duration pause_after_refusal = std::chrono::milliseconds(1);
  Duration pause_max = std::chrono::milliseconds(100);
  /// After this it counts as not answered, and as a refusal. Who has nothing to give says nothing, so it is
  /// not long; what comes later is run all the same.
  Duration answer_within = std::chrono::milliseconds(5);
};

/// A question to one victim at a time, numbered. Ends: each question is answered, refused, or given up after
/// `answer_within`, and a victim that refuses is left alone for longer each time, until it grants something.
class ThiefMachine {
 public:
  explicit ThiefMachine(VictimOptions options = {}) : options_(options) {}

  struct Ask {
    Life victim;
    /// Grows with every question of this process, so a repeat can be recognised and a late answer as well.
    std::uint64_t request = 0;
    bool operator==(const Ask&) const = default;
  };
  /// Called when lanes are idle. Empty when a question is open, or nobody is worth asking: a steal must gain
  /// time, so the victim's own lanes must be busy for longer than the tasks are under way.
  std::optional<Ask> next(const std::vector<VictimView>& views, Instant now);

  /// True when this answers the open question; then the tasks granted are ours to run. (Tasks that come too
  /// late are ours too: they were accepted under their attempt. Only the bookkeeping here ignores them.)
  bool on_answer(Life victim, std::uint64_t request, std::size_t tasks_granted, Instant now);
  void on_member_down(Life victim);
  /// The open question, to be sent again unchanged when the link broke in between.
  const std::optional<Ask>& open() const { return open_; }
  /// When `next` may have something to say again, given unchanged views; empty: only when views change.
  std::optional<Instant> wake_at(Instant now) const;

 private:
  struct Refusals {
    std::uint32_t count = 0;
    Instant until;
  };
  void refused(Life victim, Instant now);

  VictimOptions options_;
  std::uint64_t next_request_ = 1;
  std::optional<Ask> open_;
  Instant open_until_;
  std::map<Life, Refusals> refusals_;  // Of lives that are up: at most one per member.
};

/// How many of `queued` rows a thief gets for so many idle lanes. For each lane what runs for some round
/// trips, so that little of its time goes by with asking; of longer rows one, since the next can be asked for
/// when it is over. Never more than half, rounded up: the victim keeps working.
std::uint32_t rows_to_give(std::uint32_t lanes, std::uint32_t queued, std::optional<Duration> mean_run);

}  // namespace dag
