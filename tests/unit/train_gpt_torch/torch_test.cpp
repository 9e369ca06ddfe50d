// train_gpt's forward, backward and Adam against libtorch's, which nobody of this project wrote. Ours is in
// float, libtorch's in double, so the difference is our error alone.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "examples/train_gpt/stage.hpp"
#include "tests/unit/train_gpt/helpers.hpp"
#include "tests/unit/train_gpt_torch/torch_model.hpp"

using namespace gpt;
using gpt::test::TorchModel;

namespace {

/// A part of the flat arrays, compared as a whole.
struct Piece {
  std::string name;
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// Bytes that follow no rule.
Batch random_batch(const Config& config, std::uint64_t number) {
  Batch batch;
  batch.rows = config.batch;
  for (std::uint64_t i = 0; i < std::uint64_t{config.batch} * config.context; ++i) {
    batch.tokens.push_back(static_cast<std::uint8_t>(bits({11, 2 * number, i}) % config.vocabulary));
    batch.targets.push_back(static_cast<std::uint8_t>(bits({11, 2 * number + 1, i}) % config.vocabulary));
  }
  return batch;
}

/// Away from the start, where gains are 1 and biases 0, so that each of them matters.
Stage random_model(const Config& config) {
  use_one_blas_thread();
  Tensor weights = Stage(config, {0, 1}, 5U).weights();
  const std::vector<float> away = test::noise(weights.values.size(), 9);
  for (std::size_t i = 0; i < away.size(); ++i) weights.values[i] += 0.1F * away[i];
  return {config, {0, 1}, weights};
}

float run(Stage& model, std::uint32_t micro_batch, const Batch& batch) {
  const Tensor loss = model.forward(micro_batch, batch, {});
  model.backward_input(micro_batch, {});
  model.backward_weights(micro_batch);
  return loss.values.at(0);
}

/// The largest difference, as a share of the largest value.
double largest_error(std::span<const float> ours, std::span<const double> exact) {
  REQUIRE(ours.size() == exact.size());
  double difference = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double here = std::abs(static_cast<double>(ours[i]) - exact[i]);
    if (std::isnan(here)) return here;  // std::max would pass over it; no comparison with it is true.
    difference = std::max(difference, here);
    largest = std::max(largest, std::abs(exact[i]));
  }
  REQUIRE(largest > 0.0);
  return difference / largest;
}

}  // namespace

// A float rounding is off by at most 2^-24 of the value, a third of that on average. A gradient went through
// some seventy operations, forward and back, that sum up to 512 terms each, and roundings add up like a
// random walk: sqrt(70 * 512) * 2^-24 / 3 is 4e-6 (seen: 1e-6). Errors are larger: the erf form of GELU is
// off by 6e-4.
constexpr double tolerance = 1e-5;

/// A loss is the mean over many rows, where errors cancel, and most of it is ln 256 (seen: 1e-7).
constexpr double loss_tolerance = 1e-6;

TEST_CASE("train_gpt: logits, loss and gradients are libtorch's") {
  const Config config = GENERATE(test::small_config(), Config{.batch = 2});
  INFO(to_string(config));
  Stage model = random_model(config);
  TorchModel torch(config, model.weights());
  const Batch batch = random_batch(config, 0);

  const std::vector<double> logits = torch.logits(batch);
  REQUIRE(logits.size() == batch.tokens.size() * config.vocabulary);
  // Ours sees only the tokens up to `time`, libtorch's the whole window through its mask.
  for (std::size_t row = 0; row < batch.rows; ++row)
    for (const std::size_t time :
         {std::size_t{1}, std::size_t{config.context / 2}, std::size_t{config.context}}) {
      const std::span<const std::uint8_t> window(batch.tokens.data() + row * config.context, time);
      const Tensor ours = model.infer(window, {});
      const std::span<const double> exact(
          logits.data() + (row * config.context + time - 1) * config.vocabulary, config.vocabulary);
      INFO("window " << row << ", " << time << " tokens");
      CHECK(largest_error(ours.values, exact) < tolerance);
    }

  const double loss = torch.loss_and_backward(std::span(&batch, 1));
  CHECK(static_cast<double>(run(model, 0, batch)) == Approx(loss).epsilon(loss_tolerance));
  const std::vector<float> ours = model.gradients(1).values;
  const std::vector<double> exact = torch.gradients();
  REQUIRE(ours.size() == exact.size());
  for (const Parameter& parameter : model.parameters()) {
    INFO(parameter.name);
    CHECK(largest_error(std::span(ours).subspan(parameter.offset, parameter.size()),
                        std::span(exact).subspan(parameter.offset, parameter.size())) < tolerance);
  }
}

namespace {

/// Every parameter but the biases of the keys: adding one vector to all keys changes no softmax, so their
/// gradient is zero, and what float leaves instead of zero Adam would scale up to full steps.
std::vector<Piece> pieces_that_adam_moves(const Stage& model) {
  std::vector<Piece> pieces;
  for (const Parameter& parameter : model.parameters()) {
    if (!parameter.name.ends_with("mix.bias")) {
      pieces.push_back({parameter.name, parameter.offset, parameter.size()});
      continue;
    }
    const std::size_t width = parameter.size() / 3;
    pieces.push_back({parameter.name + " of queries", parameter.offset, width});
    pieces.push_back({parameter.name + " of values", parameter.offset + 2 * width, width});
  }
  return pieces;
}

/// The length of the difference, as a share of the length of libtorch's move from `start`.
double move_error(const Piece& piece, const std::vector<float>& start, const std::vector<float>& ours,
                  const std::vector<double>& exact) {
  double difference = 0.0;
  double move = 0.0;
  for (std::size_t i = piece.offset; i < piece.offset + piece.size; ++i) {
    difference += std::pow(static_cast<double>(ours[i]) - exact[i], 2.0);
    move += std::pow(exact[i] - static_cast<double>(start[i]), 2.0);
  }
  REQUIRE(move > 0.0);
  return std::sqrt(difference / move);
}

}  // namespace

TEST_CASE("train_gpt: three steps of training end where libtorch's Adam ends") {
  Options options = test::small_options();
  options.micro_batches = 2;
  Stage model = random_model(options.model);
  const std::vector<float> start = model.weights().values;
  TorchModel torch(options.model, model.weights());
  for (std::uint32_t step = 0; step < 3; ++step) {
    const std::vector<Batch> batches = {random_batch(options.model, 2 * step),
                                        random_batch(options.model, 2 * step + 1)};
    std::vector<float> losses;
    for (std::uint32_t m = 0; m < options.micro_batches; ++m) losses.push_back(run(model, m, batches[m]));
    const Update update = update_at(options, step);
    model.apply(model.gradients(options.micro_batches), update);

    const double loss = torch.loss_and_backward(batches);
    torch.adam_step(update.learning_rate);
    INFO("step " << step);
    CHECK(static_cast<double>(mean_in_order(losses)) == Approx(loss).epsilon(loss_tolerance));
  }
  const std::vector<float> ours = model.weights().values;
  const std::vector<double> exact = torch.weights();
  REQUIRE(ours.size() == exact.size());
  // Adam divides a gradient by its own size, so elements with the smallest gradients move as far as all
  // others and their errors grow with them: more than the tolerance, for a few (seen: 3e-5 of the whole
  // move).
  for (const Piece& piece : pieces_that_adam_moves(model)) {
    INFO(piece.name);
    CHECK(move_error(piece, start, ours, exact) < 3e-4);
  }
}
