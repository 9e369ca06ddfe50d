// Whole small runs by the sequential loop: what must not change the curve does not, what must does.
#include <catch2/catch.hpp>
#include <thread>

#include "examples/train_gpt/generate.hpp"
#include "examples/train_gpt/reference.hpp"
#include "tests/unit/train_gpt/helpers.hpp"

using namespace gpt;

namespace {

std::vector<Shard> shards() { return make_shards(test::small_text(), 2, test::small_config().context); }

}  // namespace

TEST_CASE("train_gpt: the loss falls, and the curve is the same each time, on each thread") {
  Options options = test::small_options();
  options.steps = 40;
  options.evaluate_every = 10;
  options.peak_learning_rate = 1e-2F;
  const Curve curve = train_sequential(options, shards());
  REQUIRE(curve.training.size() == 40);
  CHECK(curve.training.front() == Approx(5.55F).margin(0.1));
  CHECK(curve.training.back() < 3.0F);
  CHECK(curve.validation_step == std::vector<std::uint32_t>{9, 19, 29, 39});
  CHECK(curve.validation.back() < curve.validation.front());
  Curve again;
  std::thread([&] { again = train_sequential(options, shards()); }).join();
  CHECK(again == curve);
}

TEST_CASE("train_gpt: the curve does not depend on the number of stages, clipped or not") {
  Options options = test::small_options();
  options.replicas = 2;
  options.gradient_norm_max = GENERATE(0.0F, 0.2F);
  const Curve one = train_sequential(options, shards());
  for (const std::uint32_t stages : {2U, 3U, 4U}) {
    options.stages = stages;
    CHECK(train_sequential(options, shards()) == one);
  }
}

TEST_CASE("train_gpt: replicas' gradients are summed in their order") {
  Options options = test::small_options();
  options.replicas = 3;
  options.steps = 1;
  options.evaluate_every = 0;
  // By hand: the replicas' sums, left to right, into one update.
  std::vector<Tensor> parts;
  std::vector<float> losses;
  for (std::uint32_t replica = 0; replica < 3; ++replica) {
    Stage stage(options.model, {0, 1}, options.seed);
    for (std::uint32_t m = 0; m < options.micro_batches; ++m) {
      const Batch batch = training_batch(shards(), options.model, {options.seed, 0, replica, m});
      losses.push_back(stage.forward(m, batch, {}).values[0]);
      stage.backward_input(m, {});
      stage.backward_weights(m);
    }
    parts.push_back(stage.gradients(options.micro_batches));
  }
  Tensor by_hand = parts[0];
  for (std::size_t i = 0; i < by_hand.values.size(); ++i)
    by_hand.values[i] = (parts[0].values[i] + parts[1].values[i]) + parts[2].values[i];
  CHECK(sum_in_order(parts) == by_hand);
  CHECK(train_sequential(options, shards()).training == std::vector<float>{mean_in_order(losses)});
  CHECK_THROWS_AS(sum_in_order({}), std::invalid_argument);
  CHECK_THROWS_AS(sum_in_order({parts[0], Tensor{{1}, {1.0F}}}), std::invalid_argument);
  CHECK_THROWS_AS(mean_in_order({}), std::invalid_argument);
}

TEST_CASE("train_gpt: training ends early when validation stops improving") {
  const std::vector<float> losses = {5.0F, 4.0F, 4.5F, 4.0F, 4.1F};
  CHECK(stops_early(losses, 3));
  CHECK_FALSE(stops_early(losses, 4));
  CHECK_FALSE(stops_early(losses, 0));
  CHECK_FALSE(stops_early(std::span(losses).first(4), 3));
  CHECK_FALSE(stops_early({}, 3));

  Options options = test::small_options();
  options.steps = 50;
  options.evaluate_every = 1;
  options.patience = 2;
  options.peak_learning_rate = 1.0F;  // Diverges at once.
  const Curve curve = train_sequential(options, shards());
  CHECK(curve.stopped_early);
  CHECK(curve.training.size() < 50);
}

TEST_CASE("train_gpt: a whole model from the stages' weights evaluates and generates as they do") {
  const Config config = test::small_config();
  std::vector<Stage> stages;
  std::vector<Tensor> weights;
  for (std::uint32_t index = 0; index < 3; ++index) {
    stages.emplace_back(config, StagePlace{index, 3}, 4U);
    weights.push_back(stages.back().weights());
  }
  const std::vector<Stage> whole = {whole_model(config, weights)};
  const std::vector<std::uint8_t> validation = test::small_text(200);
  CHECK(validation_loss(whole, validation, 0) == validation_loss(stages, validation, 0));
  const Generation wanted{.prompt = "the licence of ", .bytes = 20, .temperature = 1.0F, .seed = 3};
  const std::string text = generate(whole, wanted);
  CHECK(text.size() == 35);
  CHECK(text.starts_with(wanted.prompt));
  CHECK(generate(stages, wanted) == text);
  CHECK(generate(whole, {.prompt = "", .bytes = 2}).size() == 3);
  std::swap(stages[0], stages[1]);
  CHECK_THROWS_AS(generate(stages, wanted), std::invalid_argument);
  CHECK_THROWS_AS(whole_model(config, std::span(weights).first(2)), std::invalid_argument);
}

TEST_CASE("train_gpt: what a window shows does not change the logits before it") {
  // infer() on a prefix gives what training saw at that position: the mask hides the rest.
  const Config config = test::small_config();
  const Stage model(config, {0, 1}, 4U);
  const std::vector<std::uint8_t> text = test::small_text(8);
  const Tensor logits = model.infer(std::span(text).first(7), {});
  CHECK(logits.shape == std::vector<std::uint32_t>{256});
  const Batch one{1, {text.begin(), text.begin() + 7}, {text.begin() + 1, text.end()}};
  double mean = 0.0;
  for (std::size_t seen = 1; seen <= 7; ++seen) {
    const Tensor here = model.infer(std::span(text).first(seen), {});
    double all = 0.0;
    for (const float logit : here.values) all += std::exp(static_cast<double>(logit));
    mean += (std::log(all) - static_cast<double>(here.values[text[seen]])) / 7.0;
  }
  CHECK(static_cast<double>(model.evaluate(one, {}).values[0]) == Approx(mean).epsilon(1e-5));
  CHECK_THROWS_AS(model.infer({}, {}), std::invalid_argument);
  CHECK_THROWS_AS(model.infer(text, {}), std::invalid_argument);
}

TEST_CASE("train_gpt: sampling follows the probabilities") {
  const std::vector<float> logits = {0.0F, std::log(3.0F), -100.0F, std::log(4.0F)};
  CHECK(sample(logits, 0.0F, {}) == 3);
  std::vector<int> seen(4);
  for (std::uint64_t n = 0; n < 8000; ++n) ++seen[sample(logits, 1.0F, {1, 2, n})];
  CHECK(seen[0] == Approx(1000).margin(120));
  CHECK(seen[1] == Approx(3000).margin(200));
  CHECK(seen[2] == 0);
  CHECK(seen[3] == Approx(4000).margin(200));
  CHECK(printable("a\tb\n\x80z") == "a?b\n?z");
}

TEST_CASE("train_gpt: options that make no sense are refused by name") {
  Options options;
  CHECK_NOTHROW(check(options));
  options.replicas = 0;
  CHECK_THROWS_WITH(check(options), Catch::Contains("replicas"));
  options = {};
  options.stages = 5;
  CHECK_THROWS_WITH(check(options), Catch::Contains("stages"));
  options = {};
  options.peak_learning_rate = 0.0F;
  CHECK_THROWS_WITH(check(options), Catch::Contains("learning rate"));
}
