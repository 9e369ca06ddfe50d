// The stage as a whole: gradients by finite differences, independence of schedule and of the number of
// stages.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "examples/train_gpt/stage.hpp"
#include "tests/unit/train_gpt/helpers.hpp"

using namespace gpt;

namespace {

std::vector<Stage> make_stages(std::uint32_t count, const Config& config = test::small_config()) {
  std::vector<Stage> stages;
  for (std::uint32_t index = 0; index < count; ++index)
    stages.emplace_back(config, StagePlace{index, count}, 5U);
  return stages;
}

Batch batch_number(std::uint32_t number, const Config& config = test::small_config()) {
  const std::vector<Shard> shards = make_shards(test::small_text(), 2, config.context);
  return training_batch(shards, config, {.seed = 2, .step = 0, .replica = 0, .micro_batch = number});
}

float forward(std::vector<Stage>& stages, std::uint32_t micro_batch) {
  Tensor flow;
  for (Stage& stage : stages) flow = stage.forward(micro_batch, batch_number(micro_batch), flow);
  return flow.values.at(0);
}

void backward_input(std::vector<Stage>& stages, std::uint32_t micro_batch) {
  Tensor flow;
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage)
    flow = stage->backward_input(micro_batch, flow);
}

void backward_weights(std::vector<Stage>& stages, std::uint32_t micro_batch) {
  for (Stage& stage : stages) stage.backward_weights(micro_batch);
}

/// All stages' gradients end to end.
std::vector<float> gradients(const std::vector<Stage>& stages, std::uint32_t micro_batches) {
  std::vector<float> all;
  for (const Stage& stage : stages) {
    const Tensor part = stage.gradients(micro_batches);
    all.insert(all.end(), part.values.begin(), part.values.end());
  }
  return all;
}

}  // namespace

TEST_CASE("train_gpt: every parameter of the whole model against finite differences") {
  std::vector<Stage> model = make_stages(1);
  const Batch batch = batch_number(0);
  // Away from the start, where gains are 1 and biases 0.
  Tensor weights = model[0].weights();
  const std::vector<float> away = test::noise(weights.values.size(), 9);
  for (std::size_t i = 0; i < away.size(); ++i) weights.values[i] += 0.1F * away[i];
  model[0] = Stage(test::small_config(), {0, 1}, weights);
  model[0].forward(0, batch, {});
  CHECK(model[0].backward_input(0, {}) == Tensor{});
  model[0].backward_weights(0);
  const std::vector<float> gradient = model[0].gradients(1).values;

  const auto loss_at = [&](const Tensor& changed) {
    const Stage probe(test::small_config(), {0, 1}, changed);
    return static_cast<double>(probe.evaluate(batch, {}).values[0]);
  };
  // Along the gradient of each parameter: a whole matrix at once, so that float noise stays small beside the
  // change, and then single elements of it.
  for (const Parameter& parameter : model[0].parameters()) {
    double square = 0.0;
    for (std::size_t i = 0; i < parameter.size(); ++i)
      square += std::pow(static_cast<double>(gradient[parameter.offset + i]), 2.0);
    const double norm = std::sqrt(square);
    INFO(parameter.name);
    REQUIRE(norm > 1e-4);
    const double step = 4e-3;
    Tensor up = weights;
    Tensor down = weights;
    for (std::size_t i = parameter.offset; i < parameter.offset + parameter.size(); ++i) {
      const auto move = static_cast<float>(step / norm * static_cast<double>(gradient[i]));
      up.values[i] += move;
      down.values[i] -= move;
    }
    CHECK((loss_at(up) - loss_at(down)) / (2.0 * step) == Approx(norm).epsilon(0.02).margin(2e-4));

    for (std::uint64_t n = 0; n < 3; ++n) {
      const std::size_t i = parameter.offset + bits({1, stream_of(parameter.name), n}) % parameter.size();
      up = weights;
      down = weights;
      up.values[i] += 0.02F;
      down.values[i] -= 0.02F;
      const double slope = (loss_at(up) - loss_at(down)) / 0.04;
      CHECK(static_cast<double>(gradient[i]) == Approx(slope).epsilon(0.05).margin(1e-4));
    }
  }
}

TEST_CASE("train_gpt: any schedule of F, B and W gives the same bits") {
  constexpr std::uint32_t micro_batches = 4;
  std::vector<Stage> joint = make_stages(2);
  std::vector<float> losses;
  for (std::uint32_t m = 0; m < micro_batches; ++m) {
    losses.push_back(forward(joint, m));
    backward_input(joint, m);
    backward_weights(joint, m);
  }
  const std::vector<float> expected = gradients(joint, micro_batches);

  SECTION("all F, all B, all W late and in any order") {
    std::vector<std::uint32_t> order(micro_batches);
    std::iota(order.begin(), order.end(), 0U);
    do {
      std::vector<Stage> apart = make_stages(2);
      for (std::uint32_t m = 0; m < micro_batches; ++m) CHECK(forward(apart, m) == losses[m]);
      for (std::uint32_t m = micro_batches; m-- > 0;) backward_input(apart, m);
      for (const std::uint32_t m : order) backward_weights(apart, m);
      CHECK(gradients(apart, micro_batches) == expected);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  SECTION("forward again before backward") {
    std::vector<Stage> again = make_stages(2);
    for (std::uint32_t m = 0; m < micro_batches; ++m) {
      forward(again, m);
      CHECK(forward(again, m) == losses[m]);
      backward_input(again, m);
      backward_weights(again, m);
    }
    CHECK(gradients(again, micro_batches) == expected);
  }
  SECTION("another number of stages") {
    for (const std::uint32_t count : {1U, 3U, 4U}) {
      std::vector<Stage> other = make_stages(count);
      for (std::uint32_t m = 0; m < micro_batches; ++m) {
        CHECK(forward(other, m) == losses[m]);
        backward_input(other, m);
        backward_weights(other, m);
      }
      CHECK(gradients(other, micro_batches) == expected);
    }
  }
}

TEST_CASE("train_gpt: the sum of micro-batches is the left-to-right sum of their gradients") {
  std::vector<Stage> model = make_stages(1);
  Tensor expected;
  for (std::uint32_t m = 0; m < 3; ++m) {
    std::vector<Stage> alone = make_stages(1);
    Tensor flow = alone[0].forward(0, batch_number(m), {});
    alone[0].backward_input(0, {});
    alone[0].backward_weights(0);
    const Tensor part = alone[0].gradients(1);
    expected = m == 0 ? part : sum_in_order({expected, part});
    forward(model, m);
    backward_input(model, m);
    backward_weights(model, m);
  }
  CHECK(model[0].gradients(3) == expected);
}

TEST_CASE("train_gpt: parameters lie without gaps and do not depend on the number of stages") {
  const Config config;
  const std::vector<Parameter> whole = stage_parameters(config, {0, 1});
  CHECK(size_of(whole) == 867328);
  std::size_t offset = 0;
  for (const Parameter& parameter : whole) {
    CHECK(parameter.offset == offset);
    offset += parameter.size();
  }
  const std::vector<float> all = initial_weights(whole, 1);
  for (const std::uint32_t count : {2U, 3U, 4U}) {
    std::vector<float> joined;
    for (std::uint32_t index = 0; index < count; ++index) {
      const std::vector<float> part = initial_weights(stage_parameters(config, {index, count}), 1);
      joined.insert(joined.end(), part.begin(), part.end());
    }
    CHECK(joined == all);
  }
  CHECK(initial_weights(whole, 2) != all);

  // The pieces that the block computes with are those of the table.
  const std::vector<Parameter> block = stage_parameters({.layers = 4}, {1, 4});
  const std::vector<float> array(block_size(128));
  const BlockParts<const float> parts = block_parts(array.data(), 128);
  const float* const at[] = {parts.norm1_gain,  parts.norm1_bias,       parts.mix_weights,
                             parts.mix_bias,    parts.project_weights,  parts.project_bias,
                             parts.norm2_gain,  parts.norm2_bias,       parts.expand_weights,
                             parts.expand_bias, parts.contract_weights, parts.contract_bias};
  REQUIRE(block.size() == std::size(at));
  for (std::size_t i = 0; i < block.size(); ++i)
    CHECK(at[i] - array.data() == std::ptrdiff_t(block[i].offset));
  CHECK(size_of(block) == block_size(128));
}

TEST_CASE("train_gpt: a stage refuses calls out of order, and wrong shapes") {
  std::vector<Stage> stages = make_stages(2);
  const Config config = test::small_config();
  CHECK_THROWS_AS(stages[0].backward_input(0, {}), std::logic_error);
  CHECK_THROWS_AS(stages[0].backward_weights(0), std::logic_error);
  CHECK_THROWS_AS(stages[0].gradients(1), std::logic_error);
  CHECK_THROWS_AS(stages[0].forward(0, {}, {}), std::invalid_argument);
  CHECK_THROWS_WITH(stages[1].forward(0, batch_number(0), {}), Catch::Contains("expected shape [3, 7, 22]"));
  const Tensor flow = stages[0].forward(0, batch_number(0), {});
  CHECK_THROWS_AS(stages[0].forward(1, batch_number(1), flow), std::invalid_argument);
  CHECK_THROWS_AS(stages[0].backward_weights(0), std::logic_error);
  CHECK_THROWS_WITH(stages[0].apply(stages[0].weights(), {}),
                    Catch::Contains("micro-batch 0 is still in flight"));
  stages[1].forward(0, batch_number(0), flow);
  const Tensor back = stages[1].backward_input(0, {});
  CHECK(back.shape == flow.shape);
  stages[0].backward_input(0, back);
  CHECK_THROWS_AS(stages[0].backward_input(0, back), std::logic_error);
  CHECK_THROWS_AS(stages[0].forward(0, batch_number(0), {}), std::logic_error);
  stages[0].backward_weights(0);
  CHECK_THROWS_AS(stages[0].forward(0, batch_number(0), {}), std::logic_error);
  CHECK_THROWS_WITH(stages[0].gradients(2), Catch::Contains("1 summed"));
  CHECK_THROWS_AS(Stage(config, {0, 5}, 1U), std::invalid_argument);
  CHECK_THROWS_AS(Stage(config, {0, 2}, Tensor{{3}, {1, 2, 3}}), std::invalid_argument);
}

TEST_CASE("train_gpt: configurations that make no sense are refused by name") {
  CHECK_THROWS_WITH(check(Config{.width = 130}), Catch::Contains("multiple of heads"));
  CHECK_THROWS_WITH(check(Config{.layers = 0}), Catch::Contains("layers is 0"));
  CHECK_THROWS_WITH(check(Config{.context = 0}), Catch::Contains("context"));
  CHECK_THROWS_WITH(check(Config{}, StagePlace{0, 9}), Catch::Contains("number of stages is 9"));
  CHECK_THROWS_WITH(check(Config{.layers = 256, .width = 8192}), Catch::Contains("too large"));
  CHECK_NOTHROW(check(Config{}));
}
