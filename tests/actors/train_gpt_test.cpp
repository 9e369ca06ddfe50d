// The main job against a plain loop: the graph must give the sequential run's losses, bit by bit, whatever
// the number of stages, replicas and lanes, and also when it ends early, is resumed, or loses a validation
// shard.

#include <catch2/catch.hpp>

#include <dag/dag.hpp>

#include <filesystem>

#include <unistd.h>

#include "examples/train_gpt/graph.hpp"
#include "examples/train_gpt/text.hpp"

namespace {

gpt::Plan small_plan() {
  gpt::Plan plan;
  plan.options.model.layers = 4;
  plan.options.model.width = 16;
  plan.options.model.heads = 2;
  plan.options.model.context = 16;
  plan.options.model.batch = 2;
  plan.options.micro_batches = 3;
  plan.options.steps = 6;
  plan.options.evaluate_every = 2;
  plan.options.validation_windows = 4;
  plan.sample.bytes = 8;
  return plan;
}

gpt::Trained run(const gpt::Plan& plan, const char* lanes, const std::optional<gpt::Resumed>& resumed = {}) {
  std::vector<const char*> words{"train_gpt", "--dag-lanes", lanes};
  std::vector<char*> argv;
  for (const char* word : words) argv.push_back(const_cast<char*>(word));
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  dag::Session session(argc, argv.data());
  dag::Graph graph("train_gpt");
  const auto trained = gpt::add_training(graph, plan, gpt::load_licences(), resumed);
  const dag::Job job = session.submit(graph);
  gpt::Trained result = job.get(trained);
  job.wait();
  return result;
}

gpt::Curve reference(const gpt::Plan& plan) {
  const auto text = gpt::load_licences();
  return gpt::train_sequential(plan.options,
                               gpt::make_shards(text, plan.options.shards, plan.options.model.context));
}

/// A directory of this test's own, gone at its end.
struct Directory {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("dag-train-" + std::to_string(getpid()));
  ~Directory() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("the graph trains as the loop does, bit by bit") {
  gpt::Plan plan = small_plan();
  plan.options.stages = GENERATE(1u, 2u, 4u);
  plan.options.replicas = GENERATE(1u, 2u);
  plan.options.gradient_norm_max = plan.options.stages == 2 ? 0.5F : 0.0F;
  const char* lanes = plan.options.replicas == 1 ? "2" : "3";
  const gpt::Trained trained = run(plan, lanes);
  REQUIRE(trained.curve == reference(plan));
  REQUIRE(trained.stages.size() == plan.options.stages * plan.options.replicas);
  REQUIRE_FALSE(trained.sample.empty());
}

TEST_CASE("training that stops improving ends early, in the graph as in the loop") {
  gpt::Plan plan = small_plan();
  plan.options.steps = 20;
  plan.options.evaluate_every = 1;
  plan.options.patience = 1;
  plan.options.peak_learning_rate = 0.9F;  // Far too high: it gets worse soon.
  const gpt::Trained trained = run(plan, "2");
  REQUIRE(trained.curve.stopped_early);
  REQUIRE(trained.curve.training.size() < 20);
  REQUIRE(trained.curve == reference(plan));
}

TEST_CASE("one validation shard may fail and is left out") {
  gpt::Plan plan = small_plan();
  plan.fail_shard = 1;
  const gpt::Trained trained = run(plan, "2");
  REQUIRE(trained.curve.training == reference(plan).training);
  REQUIRE(trained.curve.validation.size() == reference(plan).validation.size());
}

TEST_CASE("a training that saves when it pays is the same training") {
  gpt::Plan plan = small_plan();
  plan.checkpoint_every = 0;
  REQUIRE(run(plan, "2").curve.training == reference(plan).training);
}

TEST_CASE("a run that was stopped goes on from its checkpoint as if it had not been") {
  const Directory directory;
  gpt::Plan plan = small_plan();
  plan.checkpoint_directory = directory.path.string();
  plan.checkpoint_every = 2;
  // As if it had been stopped after step 4: the learning rates are those of six steps.
  const gpt::Trained whole = run(plan, "2");
  std::filesystem::remove_all(directory.path / "step-6");
  std::vector<std::string> skipped;
  const gpt::Resumed resumed = gpt::read_resumed(plan.checkpoint_directory, plan, skipped);
  REQUIRE(resumed.curve.training.size() == 4);
  const gpt::Trained rest = run(plan, "2", resumed);
  REQUIRE(rest.curve == whole.curve);
  REQUIRE(rest.sample == whole.sample);

  plan.options.model.width = 32;
  plan.options.model.heads = 4;
  REQUIRE_THROWS_WITH(gpt::read_resumed(plan.checkpoint_directory, plan, skipped),
                      Catch::Contains("of another model"));
}
