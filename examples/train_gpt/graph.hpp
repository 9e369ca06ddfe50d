// Training as a task graph. The submitted part is short: preprocessing, the stages, "train", "finish". Each
// step spawns its own graph when the one before has told its loss:
//
//   draw ─▶ forward s0 ─▶ ... ─▶ forward sN ─▶ backward sN ─▶ ... ─▶ backward s0     per micro-batch and
//   replica
//                                   └─▶ weights sN ...   └─▶ weights s0
//   gradients of each stage ─▶ sum over replicas ─▶ update ─▶ apply                  per stage
//   losses ─▶ curve ─▶ next step            every so often: evaluate shards ─▶ verdict ─▶ next step or stop
//
// The order in which calls of a stage are added is the schedule: one forward, one backward (1F1B; Narayanan
// et al., PipeDream, SOSP 2019). Sums are grouped as in reference.hpp, so losses are equal bit by bit.
#pragma once

#include <dag/dag.hpp>
#include <optional>
#include <string>
#include <vector>

#include "generate.hpp"
#include "reference.hpp"
#include "stage_actor.hpp"

namespace gpt {

/// The parameters of a run.
struct Plan {
  Options options;
  std::string checkpoint_directory;     ///< empty: no checkpoints
  std::uint32_t checkpoint_every = 10;  ///< steps; 0: as often as pays
  std::int32_t fail_shard = -1;         ///< the validation shard whose evaluation fails on purpose
  Generation sample;
};

/// The results of a run.
struct Trained {
  Curve curve;
  std::string sample;
  std::vector<StageReport> stages;
};

/// A run that was read from a checkpoint.
struct Resumed {
  Curve curve;
  std::vector<std::vector<std::byte>> stages;  ///< by stage; all replicas start from the same
};

/// The job's name in checkpoints: another job's are refused.
inline constexpr const char* job_name = "train_gpt";

/// The start of the log line about a checkpoint that could not be written; then comes the reason.
inline constexpr const char* checkpoint_lost = "checkpoint not written: ";

/// Adds the whole run to `graph`.
dag::Output<Trained> add_training(dag::Graph& graph, const Plan& plan, const std::vector<std::uint8_t>& text,
                                  const std::optional<Resumed>& resumed);

/// Reads the newest usable checkpoint; throws CheckpointError, also when it is of another model. `skipped`
/// gets the newer ones that were not usable.
Resumed read_resumed(const std::string& directory, const Plan& plan, std::vector<std::string>& skipped);

}  // namespace gpt
