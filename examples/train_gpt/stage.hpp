// A pipeline stage: a range of blocks with its weights, what it keeps of the micro-batches in flight, and its
// optimiser. It decides nothing about order: any schedule that calls F, then B, then W of each micro-batch
// gives the same bits (see gradients()). Not thread-safe; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "adam.hpp"
#include "block.hpp"
#include "config.hpp"
#include "parameters.hpp"
#include "tensor.hpp"

namespace gpt {

/// The calls of a training step, for micro-batches m = 0 .. n-1 in any interleaving:
///   F  forward(m)           first stage reads the batch's tokens, last one its targets
///   B  backward_input(m)    after F of m here and B of m in the next stage
///   W  backward_weights(m)  any time after B of m here
/// then gradients(n), summed over replicas by the caller, and apply().
///
/// Errors: std::invalid_argument for input of a wrong shape, std::logic_error for a call out of order. Either
/// leaves the stage as it was.
class Stage {
 public:
  /// Fresh weights, drawn by (seed, parameter name).
  Stage(const Config& config, StagePlace place, std::uint64_t seed);

  /// Given weights, of the shape that weights() returns: to evaluate or to generate, or to start from.
  Stage(const Config& config, StagePlace place, const Tensor& weights);

  const Config& config() const { return config_; }
  StagePlace place() const { return place_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Updates applied so far: the number of the step that comes next.
  std::uint64_t updates() const { return adam_.updates; }

  /// F. `input` is the activation tensor [rows, context, width] of the stage before, empty for the first
  /// stage. Returns the activation tensor for the next stage; the last stage returns the mean loss in nats,
  /// shape [1]. Repeating F before B replaces what it kept, with the same result.
  Tensor forward(std::uint32_t micro_batch, const Batch& batch, const Tensor& input);

  /// B. `d_output` is the gradient [rows, context, width] by this stage's output, empty for the last stage.
  /// Returns the gradient by the input; empty from the first stage.
  Tensor backward_input(std::uint32_t micro_batch, const Tensor& d_output);

  /// W. Adds this micro-batch to the sum of gradients, when its turn has come.
  void backward_weights(std::uint32_t micro_batch);

  /// The sum over micro-batches 0 .. n-1 of the gradients of their mean losses, flat [size], added in index
  /// order whatever the order of the W calls was. Throws std::logic_error unless exactly those n went through
  /// W. Changes nothing: may be asked again until apply().
  ///
  /// How: each W computes its micro-batch's gradients apart (sgemm adding into a running sum would group the
  /// terms differently) and adds them if all with a lower index are in; else they wait in `held_`. In-order
  /// schedules, which are all common ones, hold nothing; the worst order holds n - 1 gradient arrays.
  Tensor gradients(std::uint32_t micro_batches) const;

  /// Adam with the gradients summed over replicas; ends the step: forgets the stage's own sum.
  /// Throws std::logic_error while a micro-batch is in flight.
  void apply(const Tensor& summed_gradients, const Update& update);

  /// The sum of squares of each parameter's gradients, for clipped_scale().
  std::vector<double> squared_norms(const Tensor& summed_gradients) const;

  /// Like forward(), keeping nothing; the batch may have any number of rows.
  Tensor evaluate(const Batch& batch, const Tensor& input) const;

  /// Takes a window of 1 to `context` tokens: activations [1, time, width] for the next stage; the last stage
  /// returns the logits [vocabulary] of the byte that follows.
  Tensor infer(std::span<const std::uint8_t> tokens, const Tensor& input) const;

  /// Flat, [size]. All stages' weights end to end are the weights of the one-stage model.
  Tensor weights() const;

  /// Weights, Adam's moments and the update count, exactly: header with version and sizes, values, XXH3-64.
  /// Between steps only (std::logic_error with micro-batches in flight or gradients not applied): what lies
  /// between is not saved.
  std::vector<std::uint8_t> save() const;

  /// Takes over what save() wrote for the same config and place, and forgets everything in flight. Throws
  /// std::runtime_error that says what is wrong (truncated, damaged, not a stage, another version, another
  /// model or stage); the stage is unchanged then.
  void restore(std::span<const std::uint8_t> saved);

 private:
  /// A micro-batch between F and W. Its blocks' activations are by far most of a stage's memory.
  struct InFlight {
    std::vector<std::uint8_t> tokens;  ///< first stage
    std::uint32_t windows = 0;
    std::vector<BlockKept> blocks;
    std::vector<float> final_input;  ///< last stage, [rows, width]
    std::vector<float> final_mean;
    std::vector<float> final_inverse;
    std::vector<float> d_logits;   ///< last stage, [rows, vocabulary]
    std::vector<float> gradients;  ///< empty until B; complete after W
  };

  /// How far a forward pass goes.
  struct Pass {
    std::span<const std::uint8_t> tokens;
    std::uint32_t windows = 0;
    std::uint32_t time = 0;
  };

  template <class Float>
  struct HeadParts {
    Float* norm_gain;
    Float* norm_bias;
    Float* weights;
    Float* bias;
  };

  std::vector<float> enter(const Pass& pass, const Tensor& input) const;
  std::vector<float> run_blocks(const Pass& pass, std::vector<float> stream, InFlight& kept) const;
  std::vector<float> run_head(std::vector<float> stream, InFlight& kept) const;
  float loss(std::vector<float>& logits, std::span<const std::uint8_t> targets) const;
  std::vector<float> head_backward_input(InFlight& kept) const;
  void head_backward_weights(InFlight& kept) const;

  Tensor run(const Batch& batch, const Tensor& input, InFlight& kept) const;
  void add_in_order(std::uint32_t micro_batch, std::vector<float> gradients);
  void check_batch(const Batch& batch) const;
  AttentionShape attention_shape(const Pass& pass) const;
  std::size_t embedding_size() const;
  std::size_t block_count() const;

  template <class Float>
  BlockParts<Float> block_at(Float* array, std::size_t block) const;
  template <class Float>
  HeadParts<Float> head_at(Float* array) const;

  Config config_;
  StagePlace place_;
  std::vector<Parameter> parameters_;
  std::vector<float> weights_;
  AdamState adam_;

  std::map<std::uint32_t, InFlight> in_flight_;
  std::vector<float> sum_;  ///< of micro-batches 0 .. summed_ - 1; empty if none
  std::uint32_t summed_ = 0;
  std::map<std::uint32_t, std::vector<float>> held_;  ///< went through W before their turn
};

/// a + b + ... in the given order (replica 0, 1, ...), the fixed order that makes runs comparable.
/// Throws std::invalid_argument if there is none or shapes differ.
Tensor sum_in_order(std::vector<Tensor> parts);

/// The mean of losses, added in the given order in double.
float mean_in_order(std::span<const float> losses);

}  // namespace gpt
