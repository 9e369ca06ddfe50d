#pragma once
// Places the attempts of a home by earliest predicted finish: choose_process() with inputs that the home
// knows, loads that other processes gossip, and run times by task name. Decides only where; the home hands
// out. Stealing corrects its errors.

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
/// The load that a life announced: a few heartbeats old, or our own, which is new.
struct LifeLoad {
  Life life;
  NodeDevices devices;
  std::uint32_t lanes = 0;
  LaneQueue queue;
  /// Predicted run time of all tasks that wait or run there, summed over its lanes. Zero if nothing predicts
  /// it: then tasks_ready and run times of tasks here stand for it.
  Duration backlog{0};
};

class FinishPlacer final : public HomePlacement {
 public:
  /// `busy_for`, called when other processes want work, returns how long all lanes here have been busy
  /// (stealing/questions.hpp). Empty: not known.
  explicit FinishPlacer(std::uint64_t seed, std::function<Duration()> busy_for = {})
      : random_(seed), busy_for_(std::move(busy_for)) {}

  /// The newest gossip. Lives that it does not name get no attempts; earlier gossip of them is
  /// forgotten.
  void on_loads(std::vector<LifeLoad> loads);
  /// A change of one life of the gossip: this process, before each event of the home.
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
  std::vector<event::Candidate> consider(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                                         Life self) override;
  /// The mean run time of all tasks; nothing before one has ended.
  std::optional<Duration> mean_run() const;

 private:
  struct Known {
    LifeLoad load;
    std::uint32_t given = 0;  ///< attempts that we placed there since
  };
  /// `near`: the place to look at first.
  Known* known(Life life, std::size_t near);
  std::optional<Duration> predicted(const std::string& name, const Policy& policy) const;
  /// Time until a lane there is free for another task, if each task takes `each`.
  Duration wait_at(const Known& there, Duration each) const;
  /// The life as a candidate for a task that takes `run`.
  PlacementCandidate candidate_at(const Known& there, Duration each, std::optional<Duration> run) const;

  Random random_;
  std::function<Duration()> busy_for_;
  std::vector<Life> known_lives_;  ///< ascending
  std::vector<Known> known_;       ///< of each life in known_lives_
  std::size_t asked_last_ = 0;     ///< place of the life asked for last: mostly the next is the same
  std::unordered_map<std::string, TaskClass> classes_;
  DurationPredictor predictor_;
  DurationEstimate any_;  ///< run time of all tasks
};

}  // namespace dag
