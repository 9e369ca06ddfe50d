#include "reference.hpp"

#include <utility>

namespace gpt {
namespace {

using Replica = std::vector<Stage>;

Replica make_replica(const Options& options) {
  Replica stages;
  for (std::uint32_t index = 0; index < options.stages; ++index)
    stages.emplace_back(options.model, StagePlace{index, options.stages}, options.seed);
  return stages;
}

/// F through all stages, then B and W back; returns the loss.
float run_micro_batch(Replica& stages, std::uint32_t micro_batch, const Batch& batch) {
  Tensor flow;
  for (Stage& stage : stages) flow = stage.forward(micro_batch, batch, flow);
  const float loss = flow.values.at(0);
  flow = {};
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    flow = stage->backward_input(micro_batch, flow);
    stage->backward_weights(micro_batch);
  }
  return loss;
}

void update(std::vector<Replica>& replicas, const Options& options, std::uint32_t step) {
  std::vector<Tensor> sums;
  std::vector<double> squares;
  for (std::uint32_t index = 0; index < options.stages; ++index) {
    std::vector<Tensor> parts;
    for (const Replica& replica : replicas) parts.push_back(replica[index].gradients(options.micro_batches));
    sums.push_back(sum_in_order(std::move(parts)));
    if (options.gradient_norm_max <= 0.0F) continue;
    const std::vector<double> here = replicas.front()[index].squared_norms(sums.back());
    squares.insert(squares.end(), here.begin(), here.end());
  }
  const Update change = update_at(options, step, squares);
  for (Replica& replica : replicas)
    for (std::uint32_t index = 0; index < options.stages; ++index) replica[index].apply(sums[index], change);
}

}  // namespace

Curve train_sequential(const Options& options, std::span<const Shard> shards,
                       const std::function<void(std::uint32_t step, float loss)>& on_step) {
  check(options);
  std::vector<Replica> replicas;
  for (std::uint32_t replica = 0; replica < options.replicas; ++replica)
    replicas.push_back(make_replica(options));
  Curve curve;
  for (std::uint32_t step = 0; step < options.steps && !curve.stopped_early; ++step) {
    std::vector<float> losses;
    for (std::uint32_t replica = 0; replica < options.replicas; ++replica)
      for (std::uint32_t micro_batch = 0; micro_batch < options.micro_batches; ++micro_batch)
        losses.push_back(run_micro_batch(
            replicas[replica], micro_batch,
            training_batch(shards, options.model, {options.seed, step, replica, micro_batch})));
    update(replicas, options, step);
    curve.training.push_back(mean_in_order(losses));
    if (on_step) on_step(step, curve.training.back());
    if (!evaluates_after(options, step)) continue;
    std::vector<float> by_shard;
    for (const Shard& shard : shards)
      by_shard.push_back(validation_loss(replicas.front(), shard.validation, options.validation_windows));
    curve.validation_step.push_back(step);
    curve.validation.push_back(mean_in_order(by_shard));
    curve.stopped_early = stops_early(curve.validation, options.patience);
  }
  return curve;
}

}  // namespace gpt
