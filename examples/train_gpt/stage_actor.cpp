#include "stage_actor.hpp"

#include <chrono>
#include <span>

namespace gpt {
namespace {

/// Adds the time of its scope to a sum of seconds.
class Watch {
 public:
  explicit Watch(double& seconds) : seconds_(seconds) {}
  ~Watch() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

StageActor::StageActor(const Config& config, const StageRole& role, std::uint64_t seed,
                       const std::vector<std::byte>& saved)
    : stage_(config, role.place, seed), seed_(seed) {
  use_one_blas_thread();
  report_.replica = role.replica;
  report_.stage = role.place.index;
  if (saved.empty()) return;
  dag::Reader reader(saved);
  StageActor other = restore(reader);
  stage_.restore(other.stage_.save());  // Refuses another model or another stage.
}

Tensor StageActor::forward(dag::Context& context, std::uint32_t micro_batch, const Batch& batch,
                           const Tensor& input) {
  if (report_.device.empty()) report_.device = context.device();
  const Watch watch(report_.forward);
  return stage_.forward(micro_batch, batch, input);
}

Tensor StageActor::backward_input(std::uint32_t micro_batch, const Tensor& d_output) {
  const Watch watch(report_.backward_input);
  return stage_.backward_input(micro_batch, d_output);
}

void StageActor::backward_weights(std::uint32_t micro_batch) {
  const Watch watch(report_.backward_weights);
  stage_.backward_weights(micro_batch);
}

void StageActor::apply(const Tensor& summed, const Update& update) {
  const Watch watch(report_.update);
  stage_.apply(summed, update);
}

void StageActor::save(dag::Writer& writer) const {
  dag::encode(writer, stage_.config());
  dag::encode(writer, StageRole{report_.replica, stage_.place()});
  dag::encode(writer, seed_);
  dag::encode(writer, stage_.save());
}

StageActor StageActor::restore(dag::Reader& reader) {
  const auto config = dag::decode<Config>(reader);
  const auto role = dag::decode<StageRole>(reader);
  const auto seed = dag::decode<std::uint64_t>(reader);
  StageActor actor(config, role, seed, {});
  actor.stage_.restore(dag::decode<std::vector<std::uint8_t>>(reader));
  return actor;
}

}  // namespace gpt
