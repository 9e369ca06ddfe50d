// The main job across processes: the loss curve is that of the plain loop, to the last bit, on any processes,
// with any losses, and also when the run was stopped and goes on.

#include <catch2/catch.hpp>

#include <fstream>
#include <nlohmann/json.hpp>

#include "examples/train_gpt/checkpoint_files.hpp"
#include "examples/train_gpt/reference.hpp"
#include "examples/train_gpt/text.hpp"
#include "tests/cluster/processes.hpp"

using cluster::bin;
using cluster::Directory;
using cluster::place;
using cluster::Process;

namespace {

using Words = std::vector<std::string>;

gpt::Options small() {
  gpt::Options options;
  options.model.layers = 2;
  options.model.width = 32;
  options.model.heads = 2;
  options.model.context = 16;
  options.model.batch = 2;
  options.stages = 2;
  options.steps = 12;
  options.evaluate_every = 6;
  return options;
}

/// As the command line of train_gpt says it. Other steps are for runs that do not come to their end.
Words train(Words words, const Words& more = {}, int steps = 12) {
  for (const char* word :
       {"--layers", "2", "--width", "32", "--heads", "2", "--context", "16", "--batch", "2", "--stages", "2",
        "--evaluate-every", "6", "--checkpoint-every", "3", "--json"}) {
    words.push_back(word);
  }
  words.insert(words.end(), {"--steps", std::to_string(steps)});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words train_in_three(const Words& more = {}, int steps = 12) {
  return train({bin("dag"), "run", "-n", "3", bin("train_gpt"), "--"}, more, steps);
}

const gpt::Curve& plain_loop() {
  static const gpt::Curve curve = [] {
    const gpt::Options options = small();
    const auto text = gpt::load_licences();
    return gpt::train_sequential(options, gpt::make_shards(text, options.shards, options.model.context));
  }();
  return curve;
}

/// The output of a run, without times and places.
struct Printed {
  gpt::Curve curve;
  std::string sample;
};
Printed printed(const Process& run) {
  INFO(run.err());
  const nlohmann::json json = nlohmann::json::parse(run.out(), nullptr, false);
  REQUIRE_FALSE(json.is_discarded());
  return {{json["training_loss"], json["validation_step"], json["validation_loss"], json["stopped_early"]},
          json["sample"]};
}

void check_same(const Process& run) {
  const Printed now = printed(run);
  CHECK(now.curve == plain_loop());
  static const std::string sample = [] {
    Process alone(train({bin("train_gpt")}));
    CHECK(alone.ends() == 0);
    const Printed embedded = printed(alone);
    CHECK(embedded.curve == plain_loop());
    return embedded.sample;
  }();
  CHECK(now.sample == sample);
}

}  // namespace

TEST_CASE("training in three processes gives the loss curve of one, and of the plain loop, bit by bit") {
  Process run(train_in_three());
  CHECK(run.ends() == 0);
  check_same(run);
  CHECK_THAT(run.err(), Catch::Contains("step"));  // Kernels of all processes print at process 0.
}

TEST_CASE("training goes back to the last save when a process is killed, and the loss curve stays") {
  // Before the first save, after it, and near the end.
  const std::string moment = GENERATE("step   2/12", "step   5/12", "step  11/12");
  const std::string first = cluster::free_address();
  const Words job = train({bin("train_gpt")});
  Process zero(job, place(0, 3, first)), one(job, place(1, 3, first)), two(job, place(2, 3, first));
  REQUIRE(zero.says(moment));
  one.kill(SIGKILL);
  CHECK(zero.ends() == 0);
  check_same(zero);
  CHECK(two.ends() == 0);
}

TEST_CASE("training survives the death of all processes but the first, one after the other") {
  const std::string first = cluster::free_address();
  const Words job = train({bin("train_gpt")});
  Process zero(job, place(0, 3, first)), one(job, place(1, 3, first)), two(job, place(2, 3, first));
  REQUIRE(zero.says("step   4/12"));
  one.kill(SIGKILL);
  REQUIRE(zero.says("step   8/12"));
  two.kill(SIGKILL);
  CHECK(zero.ends() == 0);
  check_same(zero);
}

TEST_CASE("a run that was told to end goes on from its checkpoint as if it had not been") {
  const int signal = GENERATE(SIGTERM, SIGINT);
  const Directory directory("stopped");
  Process stopped(train_in_three({"--checkpoint", directory / "saves"}));
  REQUIRE(stopped.says("step-6"));
  stopped.kill(signal);
  // The last steps may have been faster than we are.
  CHECK((stopped.ends() == 130 || stopped.ends() == 0));
  // Saves of a faster machine after step 6 are removed, so that there is something left to do.
  for (const int step : {9, 12}) {
    std::filesystem::remove_all(directory / ("saves/step-" + std::to_string(step)));
  }
  Process resumed(train_in_three({"--resume", directory / "saves"}));
  CHECK(resumed.ends() == 0);
  CHECK_THAT(resumed.err(), Catch::Contains("going on after step 6"));
  check_same(resumed);
}

TEST_CASE("a text that cannot be trained on is named, and no process is left") {
  const Directory directory("text");
  std::ofstream(directory / "empty");
  std::ofstream(directory / "short") << "hi\n";
  const auto refused = [&](const std::string& file, const std::string& why) {
    Process run(train_in_three({"--text", directory / file}));
    CHECK(run.ends() == 1);
    CHECK(run.out() == "");
    CHECK_THAT(run.err(), Catch::Contains(why));
  };
  refused("missing", "missing' does not exist");
  refused("empty", "empty' is empty");
  refused("short", "the text is smaller than the context: it has 3 bytes");
}

TEST_CASE("a full disk costs checkpoints, not the training") {
  const Directory directory("full");
  // No file may grow beyond 10 KiB, and a writer of more gets an error instead of a signal.
  Words words{"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 20; exec \"$0\" \"$@\""};
  const Words run_words = train_in_three({"--checkpoint", directory / "saves", "--quiet"});
  words.insert(words.end(), run_words.begin(), run_words.end());
  Process run(words);
  CHECK(run.ends() == 1);
  check_same(run);
  CHECK_THAT(run.err(), Catch::Contains("checkpoint not written: cannot save the checkpoint of step 3") &&
                            Catch::Contains("File too large") &&
                            Catch::Contains("4 checkpoints could not be written"));
  CHECK(gpt::checkpoint_steps(directory / "saves").empty());
}

TEST_CASE("a checkpoint that was cut off is skipped, and named when no other is left") {
  const Directory directory("cut");
  Process first(train_in_three({"--checkpoint", directory / "saves", "--quiet"}));
  CHECK(first.ends() == 0);
  REQUIRE(gpt::checkpoint_steps(directory / "saves") == std::vector<std::uint64_t>{9, 12});
  std::filesystem::resize_file(directory / "saves/step-12/c1", 100);
  {
    Process run(train_in_three({"--resume", directory / "saves"}));
    CHECK(run.ends() == 0);
    CHECK_THAT(run.err(), Catch::Contains("step-12/c1' is truncated: 100 bytes instead of") &&
                              Catch::Contains("going on after step 9"));
    check_same(run);
  }
  std::filesystem::resize_file(directory / "saves/step-9/MANIFEST", 10);
  Process run(train_in_three({"--resume", directory / "saves"}));
  CHECK(run.ends() == 1);
  CHECK(run.out() == "");
  CHECK_THAT(run.err(), Catch::Contains("there is no usable checkpoint in") &&
                            Catch::Contains("step 12 is unusable") && Catch::Contains("step 9 is unusable"));
}
