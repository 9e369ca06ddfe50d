#include "examples/train_gpt/text.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "tests/unit/train_gpt/helpers.hpp"

using namespace gpt;
using Catch::Contains;

TEST_CASE("train_gpt: a text that cannot be used is refused with a reason and a hint") {
  const test::TemporaryDirectory directory;
  const auto file = directory.path() / "text";
  CHECK_THROWS_WITH(load_text(file), Contains("does not exist") && Contains("--text FILE"));
  CHECK_THROWS_WITH(load_text(directory.path()), Contains("not a regular file"));
  test::write_text_file(file, "");
  CHECK_THROWS_WITH(load_text(file), Contains("is empty") && Contains("--text FILE"));
  test::write_text_file(file, "abc");
  CHECK(load_text(file) == std::vector<std::uint8_t>{'a', 'b', 'c'});
  CHECK_THROWS_WITH(make_shards(load_text(file), 4, 64),
                    Contains("smaller than the context") && Contains("has 3 bytes") &&
                        Contains("at least 130 are needed") && Contains("--context"));
  CHECK_THROWS_WITH(make_shards(std::vector<std::uint8_t>(129, 'a'), 4, 64), Contains("too small"));
  CHECK(make_shards(std::vector<std::uint8_t>(130, 'a'), 4, 64).size() == 1);
}

TEST_CASE("train_gpt: licence texts are read by name, without symbolic links") {
  const test::TemporaryDirectory directory;
  CHECK_THROWS_WITH(load_licences(directory.path()), Contains("no licence texts"));
  CHECK_THROWS_WITH(load_licences(directory.path() / "none"), Contains("No such file"));
  test::write_text_file(directory.path() / "B", "second");
  test::write_text_file(directory.path() / "A", "first ");
  std::filesystem::create_symlink("A", directory.path() / "C");
  std::filesystem::create_directory(directory.path() / "D");
  const std::vector<std::uint8_t> text = load_licences(directory.path());
  CHECK(std::string(text.begin(), text.end()) == "first second");
}

TEST_CASE("train_gpt: shards cover the text once, and hold a window each to train and to validate") {
  const std::size_t bytes = GENERATE(130U, 131U, 260U, 1000U, 5003U);
  const std::uint32_t asked = GENERATE(1U, 3U, 4U);
  const std::vector<std::uint8_t> text = test::small_text(bytes);
  std::vector<std::uint8_t> joined;
  for (const Shard& shard : make_shards(text, asked, 64)) {
    CHECK(shard.training.size() >= 65);
    CHECK(shard.validation.size() >= 65);
    joined.insert(joined.end(), shard.training.begin(), shard.training.end());
    joined.insert(joined.end(), shard.validation.begin(), shard.validation.end());
  }
  CHECK(joined == text);
  CHECK(shards_that_fit({bytes, asked, 64}) == std::min<std::size_t>(asked, bytes / 130));
  CHECK_THROWS_AS(make_shard(text, {bytes, asked, 64}, 4), std::invalid_argument);
}

TEST_CASE("train_gpt: batches are windows of the training text, the same for the same place in the run") {
  const Config config = test::small_config();
  const std::vector<Shard> shards = make_shards(test::small_text(), 3, config.context);
  const BatchAt at{.seed = 1, .step = 2, .replica = 3, .micro_batch = 4};
  const Batch batch = training_batch(shards, config, at);
  CHECK(batch.rows == config.batch);
  REQUIRE(batch.tokens.size() == config.batch * config.context);
  REQUIRE(batch.targets.size() == batch.tokens.size());
  for (std::uint32_t row = 0; row < config.batch; ++row) {
    std::vector<std::uint8_t> window(batch.tokens.begin() + row * config.context,
                                     batch.tokens.begin() + (row + 1) * config.context);
    window.push_back(batch.targets[(row + 1) * config.context - 1]);
    CHECK(std::equal(window.begin() + 1, window.end(), batch.targets.begin() + row * config.context));
    CHECK(std::any_of(shards.begin(), shards.end(), [&](const Shard& shard) {
      return std::search(shard.training.begin(), shard.training.end(), window.begin(), window.end()) !=
             shard.training.end();
    }));
  }
  CHECK(training_batch(shards, config, at) == batch);
  std::set<std::vector<std::uint8_t>> different = {batch.tokens};
  for (const BatchAt& other : {BatchAt{2, 2, 3, 4}, BatchAt{1, 3, 3, 4}, BatchAt{1, 2, 4, 4},
                               BatchAt{1, 2, 3, 5}, BatchAt{1, 3, 2, 4}, BatchAt{1, 2, 4, 3}})
    different.insert(training_batch(shards, config, other).tokens);
  CHECK(different.size() == 7);
  CHECK_THROWS_AS(training_batch(std::vector<Shard>{}, config, at), TextError);
}

TEST_CASE("train_gpt: validation windows follow each other, and the last batch may be shorter") {
  Config config = test::small_config();
  const std::vector<std::uint8_t> text = test::small_text(7 * 8 + 3);
  const std::vector<Batch> batches = validation_batches(text, config, 0);
  REQUIRE(batches.size() == 3);
  CHECK(batches[0].rows == 3);
  CHECK(batches[2].rows == 2);
  CHECK(std::equal(batches[0].tokens.begin(), batches[0].tokens.end(), text.begin()));
  CHECK(std::equal(batches[2].targets.begin(), batches[2].targets.end(), text.begin() + 6 * 7 + 1));
  CHECK(validation_batches(text, config, 4).back().rows == 1);
  CHECK_THROWS_WITH(validation_batches(std::span(text).first(7), config, 0),
                    Contains("smaller than the context"));
}
