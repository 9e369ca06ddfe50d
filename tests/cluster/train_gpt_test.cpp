// The main job across processes: the loss curve is the same to the last bit, whoever runs the stages and
// whoever dies.

#include <catch2/catch.hpp>

#include "tests/cluster/processes.hpp"

using cluster::bin;
using cluster::place;
using cluster::Process;

namespace {

const std::vector<std::string> small{
    "--layers", "2", "--width", "32", "--heads",          "2", "--context",          "16", "--batch", "2",
    "--stages", "2", "--steps", "12", "--evaluate-every", "6", "--checkpoint-every", "3",  "--json"};

std::vector<std::string> train(std::vector<std::string> words) {
  words.insert(words.end(), small.begin(), small.end());
  return words;
}

/// The curves, and what comes after them: all but times and places.
std::string curves_in(const std::string& json) {
  const std::size_t at = json.find("\"stopped_early\"");
  return at == std::string::npos ? "no curve in: " + json : json.substr(at);
}

const std::string& embedded_curves() {
  static const std::string curves = [] {
    Process alone(train({bin("train_gpt")}));
    CHECK(alone.ends() == 0);
    return curves_in(alone.out());
  }();
  return curves;
}

}  // namespace

TEST_CASE("training in three processes gives the loss curve of one, bit by bit") {
  Process run(train({bin("dag"), "run", "-n", "3", bin("train_gpt"), "--"}));
  CHECK(run.ends() == 0);
  INFO(run.err());
  CHECK(curves_in(run.out()) == embedded_curves());
  CHECK_THAT(run.err(), Catch::Contains("step"));  // What kernels say reaches process 0 from all of them.
}

TEST_CASE("training goes back to the last save when a process is killed, and the loss curve stays") {
  const std::string first = cluster::free_address();
  const std::vector<std::string> job = train({bin("train_gpt")});
  Process zero(job, place(0, 3, first)), one(job, place(1, 3, first)), two(job, place(2, 3, first));
  REQUIRE(zero.says("step   5/12"));
  one.kill(SIGKILL);
  CHECK(zero.ends() == 0);
  INFO(zero.err());
  CHECK(curves_in(zero.out()) == embedded_curves());
}
