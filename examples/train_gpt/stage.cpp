#include "stage.hpp"

#include <stdexcept>
#include <utility>

#include "lanes.hpp"
#include "layers.hpp"

namespace gpt {
namespace {

std::string name_of(std::uint32_t micro_batch) { return "micro-batch " + std::to_string(micro_batch); }

}  // namespace

Stage::Stage(const Config& config, StagePlace place, std::uint64_t seed)
    : config_(config),
      place_(place),
      parameters_(stage_parameters(config, place)),
      weights_(initial_weights(parameters_, seed)) {}

Stage::Stage(const Config& config, StagePlace place, const Tensor& weights)
    : config_(config), place_(place), parameters_(stage_parameters(config, place)) {
  check_shape(weights, {static_cast<std::uint32_t>(size_of(parameters_))}, "weights of a stage");
  weights_ = weights.values;
}

// ---- where things lie ----

std::size_t Stage::embedding_size() const {
  return place_.first() ? std::size_t{config_.vocabulary + config_.context} * config_.width : 0;
}

std::size_t Stage::block_count() const { return end_block(config_, place_) - first_block(config_, place_); }

template <class Float>
BlockParts<Float> Stage::block_at(Float* array, std::size_t block) const {
  return block_parts(array + embedding_size() + block * block_size(config_.width), config_.width);
}

template <class Float>
Stage::HeadParts<Float> Stage::head_at(Float* array) const {
  const std::size_t width = config_.width;
  Float* at = array + embedding_size() + block_count() * block_size(width);
  return {at, at + width, at + 2 * width, at + 2 * width + width * config_.vocabulary};
}

AttentionShape Stage::attention_shape(const Pass& pass) const {
  return {.windows = pass.windows, .time = pass.time, .width = config_.width, .heads = config_.heads};
}

void Stage::check_batch(const Batch& batch) const {
  const std::size_t rows = std::size_t{batch.rows} * config_.context;
  if (batch.rows == 0 || batch.tokens.size() != rows || batch.targets.size() != rows)
    throw std::invalid_argument("batch of " + std::to_string(batch.rows) + " windows has " +
                                std::to_string(batch.tokens.size()) + " tokens and " +
                                std::to_string(batch.targets.size()) + " targets; the context is " +
                                std::to_string(config_.context));
}

// ---- F ----

std::vector<float> Stage::enter(const Pass& pass, const Tensor& input) const {
  const std::size_t width = config_.width;
  if (!place_.first()) {
    check_shape(input, {pass.windows, pass.time, config_.width},
                "input of stage " + std::to_string(place_.index));
    return input.values;
  }
  check_none(input, "input of the first stage, which reads tokens");
  std::vector<float> stream(pass.tokens.size() * width);
  const float* token = weights_.data();
  const float* position = token + config_.vocabulary * width;
  embedding_forward(
      {.layer = {view(token, {config_.vocabulary, width}), view(position, {config_.context, width})},
       .tokens = pass.tokens,
       .time = pass.time,
       .output = view(stream.data(), {pass.tokens.size(), width})});
  return stream;
}

std::vector<float> Stage::run_blocks(const Pass& pass, std::vector<float> stream, InFlight& kept) const {
  kept.windows = pass.windows;
  kept.blocks.resize(block_count());
  for (std::size_t block = 0; block < block_count(); ++block)
    stream = block_forward(attention_shape(pass), block_at(weights_.data(), block), std::move(stream),
                           kept.blocks[block]);
  return stream;
}

/// The final layer norm and the head: logits [rows, vocabulary].
std::vector<float> Stage::run_head(std::vector<float> stream, InFlight& kept) const {
  const std::size_t width = config_.width;
  const std::size_t rows = stream.size() / width;
  const auto head = head_at(weights_.data());
  kept.final_input = std::move(stream);
  kept.final_mean.resize(rows);
  kept.final_inverse.resize(rows);
  std::vector<float> normed(rows * width);
  norm_forward({.layer = {head.norm_gain, head.norm_bias},
                .input = view(std::as_const(kept.final_input).data(), {rows, width}),
                .output = view(normed.data(), {rows, width}),
                .mean = kept.final_mean.data(),
                .inverse = kept.final_inverse.data()});
  std::vector<float> logits(rows * config_.vocabulary);
  linear_forward({.layer = {view(head.weights, {width, config_.vocabulary}), head.bias},
                  .input = view(std::as_const(normed).data(), {rows, width}),
                  .output = view(logits.data(), {rows, config_.vocabulary})});
  return logits;
}

/// The mean loss; the logits become its gradient.
float Stage::loss(std::vector<float>& logits, std::span<const std::uint8_t> targets) const {
  const Matrix in_place = view(logits.data(), {targets.size(), config_.vocabulary});
  return cross_entropy({.logits = in_place, .targets = targets, .d_logits = in_place});
}

Tensor Stage::run(const Batch& batch, const Tensor& input, InFlight& kept) const {
  check_batch(batch);
  const Pass pass{batch.tokens, batch.rows, config_.context};
  std::vector<float> stream = run_blocks(pass, enter(pass, input), kept);
  if (!place_.last()) return {{batch.rows, config_.context, config_.width}, std::move(stream)};
  kept.d_logits = run_head(std::move(stream), kept);
  return {{1}, {loss(kept.d_logits, batch.targets)}};
}

Tensor Stage::forward(std::uint32_t micro_batch, const Batch& batch, const Tensor& input) {
  const auto known = in_flight_.find(micro_batch);
  const bool through_b = known != in_flight_.end() && !known->second.gradients.empty();
  if (through_b || micro_batch < summed_ || held_.contains(micro_batch))
    throw std::logic_error("forward: " + name_of(micro_batch) + " went backward already in this step");
  InFlight kept;
  Tensor output = run(batch, input, kept);
  if (place_.first()) kept.tokens = batch.tokens;
  in_flight_.insert_or_assign(micro_batch, std::move(kept));
  return output;
}

Tensor Stage::evaluate(const Batch& batch, const Tensor& input) const {
  InFlight unused;
  return run(batch, input, unused);
}

Tensor Stage::infer(std::span<const std::uint8_t> tokens, const Tensor& input) const {
  if (tokens.empty() || tokens.size() > config_.context)
    throw std::invalid_argument("infer: " + std::to_string(tokens.size()) +
                                " tokens; the model looks at 1 to " + std::to_string(config_.context));
  InFlight unused;
  const Pass pass{tokens, 1, static_cast<std::uint32_t>(tokens.size())};
  std::vector<float> stream = run_blocks(pass, enter(pass, input), unused);
  if (!place_.last()) return {{1, pass.time, config_.width}, std::move(stream)};
  stream.erase(stream.begin(), stream.end() - config_.width);  // Only the last position is asked for.
  return {{config_.vocabulary}, run_head(std::move(stream), unused)};
}

// ---- B ----

std::vector<float> Stage::head_backward_input(InFlight& kept) const {
  const std::size_t width = config_.width;
  const std::size_t rows = kept.final_mean.size();
  const auto head = head_at(weights_.data());
  const auto gradients = head_at(kept.gradients.data());
  std::vector<float> d_normed(rows * width);
  linear_backward_input({.layer = {view(head.weights, {width, config_.vocabulary}), head.bias},
                         .d_output = view(std::as_const(kept.d_logits).data(), {rows, config_.vocabulary}),
                         .d_input = view(d_normed.data(), {rows, width})});
  std::vector<float> d_stream(rows * width);
  norm_backward({.layer = {head.norm_gain, head.norm_bias},
                 .input = view(std::as_const(kept.final_input).data(), {rows, width}),
                 .mean = kept.final_mean.data(),
                 .inverse = kept.final_inverse.data(),
                 .d_output = view(std::as_const(d_normed).data(), {rows, width}),
                 .d_input = view(d_stream.data(), {rows, width}),
                 .d_gain = gradients.norm_gain,
                 .d_bias = gradients.norm_bias});
  return d_stream;
}

Tensor Stage::backward_input(std::uint32_t micro_batch, const Tensor& d_output) {
  const auto found = in_flight_.find(micro_batch);
  if (found == in_flight_.end() || !found->second.gradients.empty())
    throw std::logic_error("backward to the input: " + name_of(micro_batch) + " needs one forward before it");
  InFlight& kept = found->second;
  const std::size_t rows = std::size_t{kept.windows} * config_.context;
  if (place_.last())
    check_none(d_output, "gradient for the last stage, which computes it from its loss");
  else
    check_shape(d_output, {kept.windows, config_.context, config_.width},
                "gradient for stage " + std::to_string(place_.index));

  kept.gradients.resize(weights_.size());
  std::vector<float> d_stream = place_.last() ? head_backward_input(kept) : d_output.values;
  const AttentionShape shape = attention_shape({{}, kept.windows, config_.context});
  for (std::size_t block = block_count(); block-- > 0;)
    d_stream =
        block_backward_input(shape, block_at(std::as_const(weights_).data(), block), std::move(d_stream),
                             kept.blocks[block], block_at(kept.gradients.data(), block));
  if (!place_.first()) return {{kept.windows, config_.context, config_.width}, std::move(d_stream)};
  const std::size_t width = config_.width;
  float* d_token = kept.gradients.data();
  embedding_backward({.tokens = kept.tokens,
                      .time = config_.context,
                      .d_output = view(std::as_const(d_stream).data(), {rows, width}),
                      .d_token = view(d_token, {config_.vocabulary, width}),
                      .d_position = view(d_token + config_.vocabulary * width, {config_.context, width})});
  return {};
}

// ---- W ----

void Stage::head_backward_weights(InFlight& kept) const {
  const std::size_t width = config_.width;
  const std::size_t rows = kept.final_mean.size();
  const auto head = head_at(weights_.data());
  const auto gradients = head_at(kept.gradients.data());
  std::vector<float> normed(rows * width);
  norm_again({.layer = {head.norm_gain, head.norm_bias},
              .input = view(std::as_const(kept.final_input).data(), {rows, width}),
              .output = view(normed.data(), {rows, width}),
              .mean = kept.final_mean.data(),
              .inverse = kept.final_inverse.data()});
  linear_backward_weights(
      {.gradients = {view(gradients.weights, {width, config_.vocabulary}), gradients.bias},
       .input = view(std::as_const(normed).data(), {rows, width}),
       .d_output = view(std::as_const(kept.d_logits).data(), {rows, config_.vocabulary})});
}

void Stage::backward_weights(std::uint32_t micro_batch) {
  const auto found = in_flight_.find(micro_batch);
  if (found == in_flight_.end() || found->second.gradients.empty())
    throw std::logic_error("backward to the weights: " + name_of(micro_batch) +
                           " needs backward to the input before it");
  InFlight& kept = found->second;
  const AttentionShape shape = attention_shape({{}, kept.windows, config_.context});
  if (place_.last()) head_backward_weights(kept);
  for (std::size_t block = 0; block < block_count(); ++block)
    block_backward_weights(shape, block_at(std::as_const(weights_).data(), block), kept.blocks[block],
                           block_at(kept.gradients.data(), block));
  std::vector<float> gradients = std::move(kept.gradients);
  in_flight_.erase(found);
  add_in_order(micro_batch, std::move(gradients));
}

void Stage::add_in_order(std::uint32_t micro_batch, std::vector<float> gradients) {
  held_.emplace(micro_batch, std::move(gradients));
  for (auto next = held_.begin(); next != held_.end() && next->first == summed_; next = held_.begin()) {
    if (summed_ == 0)
      sum_ = std::move(next->second);
    else
      for_each_lane(sum_.data(), next->second.data(), sum_.data(), sum_.size(),
                    [](Lanes a, Lanes b) { return a + b; });
    held_.erase(next);
    ++summed_;
  }
}

// ---- the update ----

Tensor Stage::gradients(std::uint32_t micro_batches) const {
  if (!in_flight_.empty() || !held_.empty() || summed_ != micro_batches || micro_batches == 0)
    throw std::logic_error("gradients of " + std::to_string(micro_batches) +
                           " micro-batches: " + std::to_string(summed_) + " summed, " +
                           std::to_string(held_.size()) + " waiting for an earlier one, " +
                           std::to_string(in_flight_.size()) + " in flight");
  return {{static_cast<std::uint32_t>(sum_.size())}, sum_};
}

std::vector<double> Stage::squared_norms(const Tensor& summed_gradients) const {
  check_shape(summed_gradients, {static_cast<std::uint32_t>(weights_.size())}, "gradients of a stage");
  std::vector<double> squares;
  squares.reserve(parameters_.size());
  for (const Parameter& parameter : parameters_) {
    double square = 0.0;
    for (std::size_t i = 0; i < parameter.size(); ++i) {
      const auto value = static_cast<double>(summed_gradients.values[parameter.offset + i]);
      square += value * value;
    }
    squares.push_back(square);
  }
  return squares;
}

void Stage::apply(const Tensor& summed_gradients, const Update& update) {
  check_shape(summed_gradients, {static_cast<std::uint32_t>(weights_.size())}, "gradients of a stage");
  if (!in_flight_.empty() || !held_.empty())
    throw std::logic_error(
        "apply: " + name_of(held_.empty() ? in_flight_.begin()->first : held_.begin()->first) +
        " is still in flight");
  adam_update(weights_, summed_gradients.values, adam_, update);
  sum_.clear();
  summed_ = 0;
}

Tensor Stage::weights() const { return {{static_cast<std::uint32_t>(weights_.size())}, weights_}; }

Tensor sum_in_order(std::vector<Tensor> parts) {
  if (parts.empty()) throw std::invalid_argument("a sum of no tensors");
  Tensor all = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    check_shape(parts[i], all.shape, "part " + std::to_string(i) + " of a sum");
    for_each_lane(all.values.data(), parts[i].values.data(), all.values.data(), all.values.size(),
                  [](Lanes a, Lanes b) { return a + b; });
  }
  return all;
}

float mean_in_order(std::span<const float> losses) {
  if (losses.empty()) throw std::invalid_argument("the mean of no losses");
  double all = 0.0;
  for (const float value : losses) all += static_cast<double>(value);
  return static_cast<float>(all / static_cast<double>(losses.size()));
}

}  // namespace gpt
