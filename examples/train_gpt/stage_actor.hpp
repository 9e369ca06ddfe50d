// A pipeline stage as a job actor: gpt::Stage with the functions that the runtime needs of an actor, and a
// watch on its own time.
#pragma once

#include <dag/dag.hpp>
#include <string>
#include <vector>

#include "stage.hpp"
#include "training.hpp"

namespace gpt {

/// Where a stage ran, and its times; in seconds since it was made or restored.
struct StageReport {
  std::uint32_t replica = 0;
  std::uint32_t stage = 0;
  std::string device;
  double forward = 0.0;
  double backward_input = 0.0;
  double backward_weights = 0.0;
  double update = 0.0;
};

/// The stage's place and replica.
struct StageRole {
  std::uint32_t replica = 0;
  StagePlace place;
};

/// All methods are calls of one actor, so they never run at the same time.
class StageActor {
 public:
  /// `saved`: the bytes of save(), to go on from; empty for fresh weights. Throws as Stage does.
  StageActor(const Config& config, const StageRole& role, std::uint64_t seed,
             const std::vector<std::byte>& saved);

  Tensor forward(dag::Context& context, std::uint32_t micro_batch, const Batch& batch, const Tensor& input);
  Tensor backward_input(std::uint32_t micro_batch, const Tensor& d_output);
  void backward_weights(std::uint32_t micro_batch);
  Tensor gradients(std::uint32_t micro_batches) const { return stage_.gradients(micro_batches); }
  std::vector<double> squared_norms(const Tensor& summed) const { return stage_.squared_norms(summed); }
  void apply(const Tensor& summed, const Update& update);
  Tensor weights() const { return stage_.weights(); }
  StageReport report() const { return report_; }

  void save(dag::Writer& writer) const;
  static StageActor restore(dag::Reader& reader);

 private:
  Stage stage_;
  std::uint64_t seed_;
  StageReport report_;
};

}  // namespace gpt
