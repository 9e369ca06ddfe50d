// Saving and restoring a stage: exact, and never from data that is not whole.
#include <catch2/catch.hpp>
#include <cstring>

#include "examples/train_gpt/stage.hpp"
#include "tests/unit/train_gpt/helpers.hpp"

using namespace gpt;

namespace {

void train_step(Stage& stage, std::uint32_t step) {
  const std::vector<Shard> shards = make_shards(test::small_text(), 2, stage.config().context);
  stage.forward(0, training_batch(shards, stage.config(), {1, step, 0, 0}), {});
  stage.backward_input(0, {});
  stage.backward_weights(0);
  stage.apply(stage.gradients(1), {.learning_rate = 1e-2F});
}

std::string refusal(Stage& stage, const std::vector<std::uint8_t>& saved) {
  try {
    stage.restore(saved);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("train_gpt: a restored stage goes on bit by bit") {
  const std::uint32_t steps_before = GENERATE(0U, 3U);
  Stage one(test::small_config(), {0, 1}, 5U);
  for (std::uint32_t step = 0; step < steps_before; ++step) train_step(one, step);
  const std::vector<std::uint8_t> saved = one.save();

  Stage other(test::small_config(), {0, 1}, 77U);
  other.forward(4, training_batch(make_shards(test::small_text(), 1, 7), test::small_config(), {}), {});
  other.restore(saved);  // Forgets what was in flight.
  CHECK(other.updates() == steps_before);
  CHECK(other.weights() == one.weights());
  CHECK(other.save() == saved);
  for (std::uint32_t step = steps_before; step < steps_before + 3; ++step) {
    train_step(one, step);
    train_step(other, step);
  }
  CHECK(other.save() == one.save());
  CHECK(other.weights() == one.weights());
}

TEST_CASE("train_gpt: a stage refuses truncated, damaged and foreign data and stays as it was") {
  Stage stage(test::small_config(), {0, 2}, 5U);
  Stage trained(test::small_config(), {0, 2}, 6U);
  trained.apply(trained.weights(), {.learning_rate = 1e-3F});
  const std::vector<std::uint8_t> good = trained.save();
  const Tensor before = stage.weights();

  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{71},
                                   std::size_t{72}, good.size() / 2, good.size() - 1}) {
    INFO("length " << length);
    CHECK_THAT(refusal(stage, {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)}),
               Catch::Contains("truncated"));
  }
  std::vector<std::uint8_t> bad = good;
  bad.push_back(0);
  CHECK_THAT(refusal(stage, bad), Catch::Contains("foreign tail"));
  for (const std::size_t at : {std::size_t{40}, std::size_t{50}, std::size_t{100}, good.size() - 1}) {
    bad = good;
    bad[at] ^= 1U;
    CHECK_THAT(refusal(stage, bad), Catch::Contains("cannot restore the stage"));
  }
  bad = good;
  bad[1000] ^= 16U;
  CHECK_THAT(refusal(stage, bad), Catch::Contains("checksum"));
  bad = good;
  bad[0] = 'X';
  CHECK_THAT(refusal(stage, bad), Catch::Contains("not a saved stage"));
  bad = good;
  bad[8] = 9;
  CHECK_THAT(refusal(stage, bad), Catch::Contains("format 9"));
  CHECK_THAT(refusal(stage, Stage(test::small_config(), {1, 2}, 5U).save()),
             Catch::Contains("stage 1 of 2; this one is stage 0 of 2"));
  Config wider = test::small_config();
  wider.width = 24;
  CHECK_THAT(refusal(stage, Stage(wider, {0, 2}, 5U).save()), Catch::Contains("width 24"));

  CHECK(stage.weights() == before);
  CHECK(refusal(stage, good) == "accepted");
}

TEST_CASE("train_gpt: a stage is saved between steps only") {
  Stage stage(test::small_config(), {0, 1}, 5U);
  const std::vector<Shard> shards = make_shards(test::small_text(), 1, 7);
  stage.forward(0, training_batch(shards, test::small_config(), {}), {});
  CHECK_THROWS_AS(stage.save(), std::logic_error);
  stage.backward_input(0, {});
  stage.backward_weights(0);
  CHECK_THROWS_AS(stage.save(), std::logic_error);
  stage.apply(stage.gradients(1), {.learning_rate = 1e-3F});
  CHECK_NOTHROW(stage.save());
}
