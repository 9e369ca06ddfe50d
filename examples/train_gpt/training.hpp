// The options of a training run, and the few decisions that every way of running it shares: the sequential
// loop of reference.hpp and the distributed graph call the same functions, so their loss curves can be
// compared bit by bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "adam.hpp"
#include "config.hpp"
#include "stage.hpp"
#include "text.hpp"

namespace gpt {

struct Options {
  Config model;
  std::uint32_t stages = 2;
  std::uint32_t replicas = 1;
  std::uint32_t micro_batches = 8;  ///< per replica and step
  std::uint32_t steps = 40;
  std::uint64_t seed = 1;
  float peak_learning_rate = 3e-3F;
  std::uint32_t warm_up_steps = 5;
  float gradient_norm_max = 0.0F;         ///< 0: no clipping; clipping joins all stages before each update
  std::uint32_t shards = 4;               ///< of the text; fewer where it is too short
  std::uint32_t evaluate_every = 10;      ///< steps; 0: never
  std::uint32_t validation_windows = 32;  ///< per shard and evaluation; 0: all
  std::uint32_t patience = 3;  ///< evaluations without a better one until training ends early; 0: never
};

/// Throws std::invalid_argument that says which option is wrong and what it may be.
void check(const Options& options);

/// The learning-rate schedule over the run's steps: a resumed run keeps the curve only with the same --steps.
Schedule schedule(const Options& options);

/// The update of a step (from 0): every stage of every replica gets this one. Without clipping, `squares` is
/// not read; with it, see clipped_scale().
Update update_at(const Options& options, std::uint32_t step, const std::vector<double>& squares = {});

/// Is the validation loss measured after this step (from 0)? Always after the last one.
bool evaluates_after(const Options& options, std::uint32_t step);

/// True once the last `patience` losses are all no better than the best before them. `losses`: all
/// evaluations so far, oldest first. NaN is never better, so a run that diverged ends.
bool stops_early(std::span<const float> losses, std::uint32_t patience);

/// The mean loss over a validation shard's windows; `stages` as for generate(). The value does not depend on
/// the number of stages.
float validation_loss(std::span<const Stage> stages, std::span<const std::uint8_t> validation,
                      std::uint32_t windows_max);

/// The one-stage model made of all stages' weights, in order: to evaluate or generate in one place.
Stage whole_model(const Config& config, std::span<const Tensor> stage_weights);

}  // namespace gpt
