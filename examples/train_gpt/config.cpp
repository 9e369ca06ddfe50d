#include "config.hpp"

#include <stdexcept>

namespace gpt {
namespace {

/// A flat tensor counts its values in 32 bits.
constexpr double parameters_max = 1073741824.0;

struct Range {
  std::uint32_t from = 1;
  std::uint32_t to = 1;
};

void check_within(const std::string& name, std::uint32_t value, Range range) {
  if (value < range.from || value > range.to)
    throw std::invalid_argument(name + " is " + std::to_string(value) + "; it must be " +
                                std::to_string(range.from) + " to " + std::to_string(range.to));
}

}  // namespace

void check(const Config& config) {
  check_within("layers", config.layers, {1, 256});
  check_within("width", config.width, {1, 8192});
  check_within("heads", config.heads, {1, config.width});
  check_within("context", config.context, {1, 8192});
  check_within("vocabulary", config.vocabulary, {2, 256});
  check_within("batch", config.batch, {1, 4096});
  if (config.width % config.heads != 0)
    throw std::invalid_argument("width " + std::to_string(config.width) + " cannot be shared by " +
                                std::to_string(config.heads) + " heads: it must be a multiple of heads");
  const double parameters = 12.0 * config.width * config.width * config.layers;
  if (parameters > parameters_max)
    throw std::invalid_argument("the model is too large (" + to_string(config) +
                                "): at most 2^30 weights in its blocks");
}

void check(const Config& config, StagePlace place) {
  check(config);
  check_within("the number of stages", place.count, {1, config.layers});
  if (place.index >= place.count)
    throw std::invalid_argument("there is no stage " + std::to_string(place.index) + " of " +
                                std::to_string(place.count));
}

std::string to_string(const Config& config) {
  return "layers " + std::to_string(config.layers) + ", width " + std::to_string(config.width) + ", heads " +
         std::to_string(config.heads) + ", context " + std::to_string(config.context) + ", vocabulary " +
         std::to_string(config.vocabulary) + ", batch " + std::to_string(config.batch);
}

}  // namespace gpt
