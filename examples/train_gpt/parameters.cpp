#include "parameters.hpp"

#include <cmath>

#include "random.hpp"

namespace gpt {
namespace {

/// Collects parameters one behind the other.
class Collector {
 public:
  struct Start {
    float value = 0.0F;
    float deviation = 0.0F;
  };

  void add(const std::string& name, Extent extent, Start start) {
    // A uniform draw needs no libm, so the initial weights are the same on every machine.
    const float spread = start.deviation * 1.7320508F;
    parameters_.push_back({name, offset_, extent, start.value, spread});
    offset_ += parameters_.back().size();
  }
  void norm(const std::string& name, std::size_t width) {
    add(name + ".gain", {1, width}, {1.0F, 0.0F});
    add(name + ".bias", {1, width}, {});
  }
  void linear(const std::string& name, Extent extent, float deviation) {
    add(name + ".weights", extent, {0.0F, deviation});
    add(name + ".bias", {1, extent.columns}, {});
  }
  std::vector<Parameter> take() { return std::move(parameters_); }

 private:
  std::vector<Parameter> parameters_;
  std::size_t offset_ = 0;
};

}  // namespace

std::vector<Parameter> stage_parameters(const Config& config, StagePlace place) {
  check(config, place);
  const std::size_t width = config.width;
  // The deviations of GPT-2 (Radford et al., 2019), but 1/sqrt(inputs) for the linear layers, as 0.02 was
  // chosen for a width of 768. What is added to the residual stream is scaled down by the number of
  // additions.
  const float deviation = 0.5F / std::sqrt(static_cast<float>(width));
  const float damped = deviation / std::sqrt(2.0F * static_cast<float>(config.layers));
  Collector collector;
  if (place.first()) {
    collector.add("embedding.token", {config.vocabulary, width}, {0.0F, 0.1F});
    collector.add("embedding.position", {config.context, width}, {0.0F, 0.02F});
  }
  for (std::uint32_t block = first_block(config, place); block < end_block(config, place); ++block) {
    const std::string name = "block" + std::to_string(block) + ".";
    collector.norm(name + "norm1", width);
    collector.linear(name + "mix", {width, 3 * width}, deviation);
    collector.linear(name + "project", {width, width}, damped);
    collector.norm(name + "norm2", width);
    collector.linear(name + "expand", {width, 4 * width}, deviation);
    collector.linear(name + "contract", {4 * width, width}, damped);
  }
  if (place.last()) {
    collector.norm("final", width);
    collector.linear("head", {width, config.vocabulary}, 0.02F);
  }
  return collector.take();
}

std::size_t size_of(const std::vector<Parameter>& parameters) {
  return parameters.empty() ? 0 : parameters.back().offset + parameters.back().size();
}

std::vector<float> initial_weights(const std::vector<Parameter>& parameters, std::uint64_t seed) {
  std::vector<float> weights(size_of(parameters));
  for (const Parameter& parameter : parameters) {
    const std::uint64_t stream = stream_of(parameter.name);
    for (std::size_t i = 0; i < parameter.size(); ++i) {
      const auto draw = static_cast<float>(2.0 * uniform({seed, stream, i}) - 1.0);
      weights[parameter.offset + i] = parameter.start + parameter.spread * draw;
    }
  }
  return weights;
}

}  // namespace gpt
