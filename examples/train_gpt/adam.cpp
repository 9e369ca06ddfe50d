#include "adam.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "lanes.hpp"

namespace gpt {
namespace {

/// The moments of a weight without gradients shrink forever; below this they are zero, before they become
/// denormal and slow.
constexpr float moment_min = 1e-30F;

struct Corrections {
  float first = 1.0F;
  float second = 1.0F;
};

/// Corrections for moments that started at zero.
Corrections corrections(const AdamRates& rates, std::uint64_t updates) {
  const auto count = static_cast<double>(updates);
  return {static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(rates.first), count))),
          static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(rates.second), count)))};
}

Lanes flushed(Lanes x) { return larger(x, -x) < fill(moment_min) ? fill(0.0F) : x; }

/// IEEE square roots are exact, so four scalar ones give the same bits as a vector one.
Lanes square_root(Lanes x) {
  return Lanes{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
}

}  // namespace

float learning_rate(const Schedule& schedule, std::uint32_t step) {
  if (step < schedule.warm_up_steps)
    return schedule.peak * static_cast<float>(step + 1) / static_cast<float>(schedule.warm_up_steps);
  const double end = static_cast<double>(schedule.peak) * static_cast<double>(schedule.end_share);
  if (step >= schedule.steps) return static_cast<float>(end);
  const double done = static_cast<double>(step - schedule.warm_up_steps) /
                      static_cast<double>(schedule.steps - schedule.warm_up_steps);
  const double height = 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  return static_cast<float>(end + (static_cast<double>(schedule.peak) - end) * height);
}

void adam_update(std::vector<float>& weights, const std::vector<float>& gradients, AdamState& state,
                 const Update& update) {
  const std::size_t count = weights.size();
  if (gradients.size() != count) throw std::invalid_argument("Adam: one gradient per weight is needed");
  state.first.resize(count);
  state.second.resize(count);
  ++state.updates;
  const AdamRates rates;
  const Corrections correct = corrections(rates, state.updates);
  for_each_lane(gradients.data(), state.first.data(), state.first.data(), count, [&](Lanes g, Lanes m) {
    return flushed(rates.first * m + (1.0F - rates.first) * (g * update.gradient_scale));
  });
  for_each_lane(gradients.data(), state.second.data(), state.second.data(), count, [&](Lanes g, Lanes v) {
    const Lanes scaled = g * update.gradient_scale;
    return flushed(rates.second * v + (1.0F - rates.second) * (scaled * scaled));
  });
  std::size_t i = 0;
  for (; i < count; i += lane_count) {
    const std::size_t here = count - i < lane_count ? count - i : lane_count;
    const Lanes m = load_some(state.first.data() + i, here) * correct.first;
    const Lanes v = load_some(state.second.data() + i, here) * correct.second;
    const Lanes change = update.learning_rate * m / (square_root(v) + rates.epsilon);
    store_some(weights.data() + i, load_some(weights.data() + i, here) - change, here);
  }
}

float clipped_scale(const std::vector<double>& squares, float gradient_scale, float norm_max) {
  if (norm_max <= 0.0F) return gradient_scale;
  double all = 0.0;
  for (const double square : squares) all += square;
  const double norm = std::sqrt(all) * static_cast<double>(gradient_scale);
  if (norm <= static_cast<double>(norm_max)) return gradient_scale;
  return static_cast<float>(static_cast<double>(gradient_scale) * static_cast<double>(norm_max) / norm);
}

}  // namespace gpt
