#include "training.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace gpt {
namespace {

void check_at_least_one(const char* name, std::uint32_t value) {
  if (value == 0) throw std::invalid_argument(std::string(name) + " must be at least 1");
}

}  // namespace

void check(const Options& options) {
  check(options.model, StagePlace{0, options.stages});
  check_at_least_one("the number of replicas", options.replicas);
  check_at_least_one("the number of micro-batches", options.micro_batches);
  check_at_least_one("the number of steps", options.steps);
  check_at_least_one("the number of shards", options.shards);
  if (!(options.peak_learning_rate > 0.0F && options.peak_learning_rate <= 1.0F))
    throw std::invalid_argument("the learning rate must be above 0 and at most 1");
}

Schedule schedule(const Options& options) {
  return {.peak = options.peak_learning_rate, .warm_up_steps = options.warm_up_steps, .steps = options.steps};
}

Update update_at(const Options& options, std::uint32_t step, const std::vector<double>& squares) {
  const float mean =
      1.0F / (static_cast<float>(options.micro_batches) * static_cast<float>(options.replicas));
  return {.learning_rate = learning_rate(schedule(options), step),
          .gradient_scale = clipped_scale(squares, mean, options.gradient_norm_max)};
}

bool evaluates_after(const Options& options, std::uint32_t step) {
  if (options.evaluate_every == 0) return false;
  return (step + 1) % options.evaluate_every == 0 || step + 1 == options.steps;
}

bool stops_early(std::span<const float> losses, std::uint32_t patience) {
  if (patience == 0 || losses.size() <= patience) return false;
  const auto recent = losses.last(patience);
  const auto before = losses.first(losses.size() - patience);
  const float best = *std::min_element(before.begin(), before.end());
  return std::none_of(recent.begin(), recent.end(), [best](float loss) { return loss < best; });
}

float validation_loss(std::span<const Stage> stages, std::span<const std::uint8_t> validation,
                      std::uint32_t windows_max) {
  if (stages.empty()) throw std::invalid_argument("validation: there is no model");
  double all = 0.0;
  double windows = 0.0;
  for (const Batch& batch : validation_batches(validation, stages.front().config(), windows_max)) {
    Tensor flow;
    for (const Stage& stage : stages) flow = stage.evaluate(batch, flow);
    all += static_cast<double>(flow.values.at(0)) * batch.rows;
    windows += batch.rows;
  }
  return static_cast<float>(all / windows);
}

Stage whole_model(const Config& config, std::span<const Tensor> stage_weights) {
  Tensor all;
  for (const Tensor& part : stage_weights)
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
  all.shape = {static_cast<std::uint32_t>(all.values.size())};
  return {config, {0, 1}, all};
}

}  // namespace gpt
