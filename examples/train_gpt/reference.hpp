// The plain loop: one thread, one step after the other. Distributed runs must give the same losses, bit by
// bit; that is how we know that no gradient was lost or counted twice.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "training.hpp"

namespace gpt {

struct Curve {
  std::vector<float> training;  ///< by step: the mean loss over micro-batches and replicas
  std::vector<std::uint32_t>
      validation_step;            ///< after which step (from 0) each validation loss was measured
  std::vector<float> validation;  ///< the mean over shards of their mean losses
  bool stopped_early = false;

  bool operator==(const Curve&) const = default;
};

/// The same Stage class and the same grouping of sums as the graph: losses by replica, then micro-batch;
/// gradients by micro-batch within a stage, then by replica. `on_step` sees each training loss as it comes.
Curve train_sequential(const Options& options, std::span<const Shard> shards,
                       const std::function<void(std::uint32_t step, float loss)>& on_step = {});

}  // namespace gpt
