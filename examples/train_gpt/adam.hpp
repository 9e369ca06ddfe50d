// Turns summed gradients into new weights.
#pragma once

#include <cstdint>
#include <vector>

namespace gpt {

/// The learning rate by step: a straight rise over the first steps, then a half cosine down to a share of the
/// peak. Source: Loshchilov, Hutter, "SGDR", 2017, one cycle.
struct Schedule {
  float peak = 3e-3F;
  std::uint32_t warm_up_steps = 5;
  std::uint32_t steps = 40;  ///< where the cosine ends; later steps stay at the end value
  float end_share = 0.1F;    ///< of the peak
};

/// `step` counts from 0.
float learning_rate(const Schedule& schedule, std::uint32_t step);

/// An update of the weights. The same values must reach every stage and replica.
struct Update {
  float learning_rate = 0.0F;
  float gradient_scale = 1.0F;  ///< turns the sum over micro-batches and replicas into a mean, and clips
};

/// Source: Kingma, Ba, "Adam", 2015. The second rate is lower than its usual 0.999, as our runs have few
/// steps.
struct AdamRates {
  float first = 0.9F;
  float second = 0.95F;
  float epsilon = 1e-8F;
};

/// Adam's memory. Empty moments mean zeros: before the first update.
struct AdamState {
  std::vector<float> first;
  std::vector<float> second;
  std::uint64_t updates = 0;

  bool operator==(const AdamState&) const = default;
};

/// Changes weights and state; both arrays have the same length (else std::invalid_argument). Element by
/// element, so the bits do not depend on how the parameters are spread over stages.
void adam_update(std::vector<float>& weights, const std::vector<float>& gradients, AdamState& state,
                 const Update& update);

/// The factor by which gradients must be multiplied so that the norm of `gradient_scale * gradients` stays
/// within `norm_max` (0 or less: no limit). `squares` are the sums of squares by parameter, in model order
/// (Stage::squared_norms of stage 0, 1, ... end to end); they are added in that order, in double.
float clipped_scale(const std::vector<double>& squares, float gradient_scale, float norm_max);

}  // namespace gpt
