#pragma once
// Places the attempts of a home by earliest predicted finish: choose_process() with what the home knows of
// inputs, what was gossiped of the other processes, and how long tasks of that name ran. Decides only where;
// the home hands out. What it gets wrong, stealing corrects.

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libdag/home/home.hpp"
#include "libdag/placement/choose_process.hpp"
#include "libdag/placement/duration_predictor.hpp"

namespace dag {

/// To lend a row, fetch nothing and hear of its end. Links take 100 us on one host; two actors on each side
/// double it.
inline constexpr Duration lending_round_trip = std::chrono::microseconds(200);

struct LaneQueue {
  std::uint32_t lanes_free = 0;
  std::uint32_t tasks_ready = 0;
};
/// What a life has said of its load: a few heartbeats old, or our own, which is new.
struct LifeLoad {
  Life life;
  NodeDevices devices;
  std::uint32_t lanes = 0;
  LaneQueue queue;
  /// Predicted run time of all that waits there or runs, summed over its lanes. Zero where nobody predicts
  /// it: then tasks_ready and what tasks took here stand for it.
  Duration backlog{0};
};

class FinishPlacer final : public HomePlacement {
 public:
  /// `busy_for` says, when somebody wants work, for how long all lanes here have been busy already
  /// (stealing/questions.hpp); left out: nothing is known of it.
  explicit FinishPlacer(std::uint64_t seed, std::function<Duration()> busy_for = {})
      : random_(seed), busy_for_(std::move(busy_for)) {}

  /// The newest gossip. Lives that are not named are not placed at; what was said of them before is
  /// forgotten.
  void on_loads(std::vector<LifeLoad> loads);
  /// News of one life that was named: of this process, before each event of the home.
  void on_queue(Life life, LaneQueue queue);

  Life place_actor(std::uint32_t actor, const std::vector<Life>& lives,
                   const std::vector<std::uint32_t>& actors_at, const Policy& policy) override;
  PlacedAttempt place_attempt(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                              Life self) override;
  bool wants_to_place(const std::string& name, const Policy& policy, bool inputs_here) const override;
  bool keeps(const std::vector<PlacementInput>& inputs, Life thief, Life self) override;
  void ran(const std::string& name, Duration ran, bool bound = false) override;
  std::optional<Duration> usual(const std::string& name, const Policy& policy) const override {
    return predicted(name, policy);
  }
  std::optional<RunEstimate> estimate(const std::string& name, const Policy& policy) const override;
  std::optional<RunEstimate> estimate_of_all() const override;
  Status possible(const std::string& name, const Policy& policy, const std::vector<Life>& lives) override;
  std::vector<recorded::Candidate> consider(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                                            Life self) override;
  /// Of tasks of all names; nothing before one has ended.
  std::optional<Duration> mean_run() const;

 private:
  struct Known {
    LifeLoad load;
    std::uint32_t given = 0;  ///< attempts that we placed there since
  };
  /// `near` is where it is if those that are known are those that run the job.
  Known* known(Life life, std::size_t near);
  std::optional<Duration> predicted(const std::string& name, const Policy& policy) const;
  /// Until a lane there is free for one more, when each task takes so long.
  Duration wait_at(const Known& there, Duration each) const;
  /// It, for a task that runs so long.
  PlacementCandidate candidate_at(const Known& there, Duration each, std::optional<Duration> run) const;

  Random random_;
  std::function<Duration()> busy_for_;
  std::vector<Life> known_lives_;  ///< ascending
  std::vector<Known> known_;       ///< of each of them
  std::size_t asked_last_ = 0;     ///< where in these the life is that asked last: mostly it is one
  std::unordered_map<std::string, TaskClass> classes_;
  DurationPredictor predictor_;
  DurationEstimate any_;  ///< of tasks of all names
};

}  // namespace dag
