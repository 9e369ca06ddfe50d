// train_gpt's model once more, in libtorch and in double: forward by its operators, backward by its autograd,
// updates by its Adam. None of our arithmetic is in it. It shares with ours the configuration and the table
// with the place of each parameter in the flat array. Torch's headers stay in the .cpp file: they define
// macros that Catch2 defines too.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "examples/train_gpt/adam.hpp"
#include "examples/train_gpt/config.hpp"
#include "examples/train_gpt/tensor.hpp"

namespace gpt::test {

class TorchModel {
 public:
  /// `weights` as Stage::weights() of the one-stage model; all arrays below lie like it.
  TorchModel(const Config& config, const Tensor& weights);
  ~TorchModel();

  /// [rows * context, vocabulary]
  std::vector<double> logits(const Batch& batch) const;

  /// The mean of the batches' mean losses; gradients() are then the gradients of this mean.
  double loss_and_backward(std::span<const Batch> batches);
  std::vector<double> gradients() const;

  /// A step of torch::optim::Adam, with our rates, by gradients().
  void adam_step(float learning_rate);
  std::vector<double> weights() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gpt::test
