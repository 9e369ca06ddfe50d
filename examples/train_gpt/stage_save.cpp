// The bytes of a saved stage. Layout, little-endian: magic[8] | version u32 | has moments u32 | layers,
// width, heads, context, vocabulary, batch u32 | stage index, stage count u32 | updates u64 | parameter count
// u64 | weights | first moments, second moments (if any) | XXH3-64 of all before. The checksum is the last
// word, so a file that lost its tail never passes.

#include <xxhash.h>

#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "stage.hpp"

namespace gpt {
namespace {

static_assert(std::endian::native == std::endian::little, "saved stages are little-endian");

constexpr std::array<char, 8> magic = {'G', 'P', 'T', 'S', 'T', 'A', 'G', 'E'};
constexpr std::uint32_t version = 1;

struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t has_moments;
  std::array<std::uint32_t, 6> config;
  std::uint32_t stage_index;
  std::uint32_t stage_count;
  std::uint64_t updates;
  std::uint64_t parameter_count;
};
static_assert(sizeof(Header) == 64, "no padding: the header is written as it lies");

std::array<std::uint32_t, 6> numbers(const Config& config) {
  return {config.layers, config.width, config.heads, config.context, config.vocabulary, config.batch};
}

void append(std::vector<std::uint8_t>& bytes, const void* from, std::size_t count) {
  const auto* first = static_cast<const std::uint8_t*>(from);
  bytes.insert(bytes.end(), first, first + count);
}

[[noreturn]] void refuse(const std::string& why) {
  throw std::runtime_error("cannot restore the stage: " + why);
}

Header read_header(std::span<const std::uint8_t> saved) {
  Header header;
  if (saved.size() < sizeof header + sizeof(std::uint64_t)) {
    refuse("the data is truncated: " + std::to_string(saved.size()) + " bytes do not even hold a header");
  }
  std::memcpy(&header, saved.data(), sizeof header);
  if (header.magic != magic) refuse("the data is not a saved stage");
  if (header.version != version)
    refuse("it was saved in format " + std::to_string(header.version) + ", this program reads format " +
           std::to_string(version));
  return header;
}

void check_checksum(std::span<const std::uint8_t> saved) {
  const std::size_t body = saved.size() - sizeof(std::uint64_t);
  std::uint64_t written = 0;
  std::memcpy(&written, saved.data() + body, sizeof written);
  if (XXH3_64bits(saved.data(), body) != written) refuse("the data is damaged: its checksum does not fit");
}

}  // namespace

std::vector<std::uint8_t> Stage::save() const {
  if (!in_flight_.empty() || !held_.empty() || summed_ != 0)
    throw std::logic_error("save: a step is under way; a stage is saved between steps");
  const bool has_moments = !adam_.first.empty();
  const Header header{magic,        version,      has_moments ? 1U : 0U, numbers(config_),
                      place_.index, place_.count, adam_.updates,         weights_.size()};
  const std::size_t floats_bytes = weights_.size() * sizeof(float);
  std::vector<std::uint8_t> bytes;
  bytes.reserve(sizeof header + floats_bytes * (has_moments ? 3 : 1) + sizeof(std::uint64_t));
  append(bytes, &header, sizeof header);
  append(bytes, weights_.data(), floats_bytes);
  if (has_moments) {
    append(bytes, adam_.first.data(), floats_bytes);
    append(bytes, adam_.second.data(), floats_bytes);
  }
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), bytes.size());
  append(bytes, &checksum, sizeof checksum);
  return bytes;
}

void Stage::restore(std::span<const std::uint8_t> saved) {
  const Header header = read_header(saved);
  if (header.config != numbers(config_)) {
    const auto& [layers, width, heads, context, vocabulary, batch] = header.config;
    refuse("it belongs to a model of " + to_string(Config{layers, width, heads, context, vocabulary, batch}) +
           "; this one has " + to_string(config_));
  }
  if (StagePlace{header.stage_index, header.stage_count} != place_)
    refuse("it is stage " + std::to_string(header.stage_index) + " of " + std::to_string(header.stage_count) +
           "; this one is stage " + std::to_string(place_.index) + " of " + std::to_string(place_.count));
  if (header.parameter_count != weights_.size() || header.has_moments > 1) refuse("the data is damaged");
  const std::size_t floats_bytes = weights_.size() * sizeof(float);
  const std::size_t arrays = header.has_moments == 1 ? 3 : 1;
  const std::size_t expected_bytes = sizeof header + floats_bytes * arrays + sizeof(std::uint64_t);
  if (saved.size() != expected_bytes)
    refuse((saved.size() < expected_bytes ? "the data is truncated: " : "the data has a foreign tail: ") +
           std::to_string(saved.size()) + " bytes instead of " + std::to_string(expected_bytes));
  check_checksum(saved);

  const std::uint8_t* at = saved.data() + sizeof header;
  std::memcpy(weights_.data(), at, floats_bytes);
  adam_ = {};
  adam_.updates = header.updates;
  if (header.has_moments == 1) {
    adam_.first.resize(weights_.size());
    adam_.second.resize(weights_.size());
    std::memcpy(adam_.first.data(), at + floats_bytes, floats_bytes);
    std::memcpy(adam_.second.data(), at + 2 * floats_bytes, floats_bytes);
  }
  in_flight_.clear();
  held_.clear();
  sum_.clear();
  summed_ = 0;
}

}  // namespace gpt
