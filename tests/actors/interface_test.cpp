// The samples of the interface's description, compiled and run. A change of the public headers that breaks a
// sample fails here. What differs from the printed text: the needs fit any machine, and the kernels are
// small.

#include <catch2/catch.hpp>

#include <dag/dag.hpp>

#include <numeric>

#include "tests/support/test_session.hpp"

using dag::test::TestSession;
using namespace std::chrono_literals;
using namespace dag::literals;

namespace {

struct Model {
  double rate = 0;
};
using Shard = std::vector<double>;
using Shards = std::vector<Shard>;

Shards read_shards(const std::string& file) {
  Shards shards;
  for (std::size_t i = 0; i < 3; ++i) shards.push_back(Shard(i + 1, static_cast<double>(file.size())));
  return shards;
}
Model train(dag::Context&, const Shards& data, double rate) {
  return {rate * static_cast<double>(data.size())};
}
double eval_part(const Model& model, const Shard& shard) { return model.rate * shard.front(); }
double mean(const std::vector<double>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0) / static_cast<double>(parts.size());
}
bool publish(const Model& model) { return model.rate > 0; }
void report() {}

struct Ledger {
  int n = 0;
  int add(double x) {
    n += x < 0.5;
    return n;
  }
};

}  // namespace

TEST_CASE("interface: the first sample") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("hello");
  auto hi = g.task("hi", [] { return std::string("hello"); });
  auto len = g.task(
      "len", [](std::string t) { return t.size(); }, hi);
  REQUIRE(session->submit(g).get(len) == 5);
}

TEST_CASE("interface: a task becomes a subgraph, and a condition and a job actor wait for it") {
  TestSession session(GENERATE(false, true));
  const double rate = GENERATE(0.01, 0.1);  // The mean is 0.3, which is below 0.5, or 3.

  dag::Graph g("train-eval");
  auto data = g.task("read", read_shards, "corpus.txt");
  auto model = g.task("train", train, data, rate)
                   .needs({.cpus = 2, .memory = 1_MiB})
                   .retry({.attempts = 3, .backoff = 2s})
                   .checkpoint()
                   .priority(dag::high)
                   .deadline(10min);
  auto score = g.task(
      "eval",
      [](dag::Context& c, const Model& m, const Shards& d) {
        std::vector<dag::Output<double>> parts;
        for (auto& s : d) parts.push_back(c.spawn("eval-part", eval_part, m, s));
        return c.spawn("mean", mean, parts);
      },
      model, data);
  auto ship = g.task("publish", publish, model).effects(dag::idempotent).only_if(score, [](double l) {
    return l < 0.5;
  });
  auto book = g.actor<Ledger>("ledger");
  auto count = book.call<&Ledger::add>(score);
  auto last = g.task("report", report).effects(dag::idempotent).after_any_outcome(ship);

  auto job = session->submit(g);
  REQUIRE(job.get(score) == Approx(rate * 30));
  const bool good = rate < 0.05;
  REQUIRE(job.get(count) == (good ? 1 : 0));
  REQUIRE(job.outcome(ship) == (good ? dag::Outcome::finished : dag::Outcome::skipped));
  REQUIRE(job.outcome(last) == dag::Outcome::finished);
  REQUIRE(job.wait());
}

TEST_CASE("interface: a condition waits for the last of several tasks that become each other") {
  TestSession session(GENERATE(false, true));
  const int value = GENERATE(1, 2);
  dag::Graph g("chain");
  auto grows = g.task(
      "grows",
      [](dag::Context& outer, int v) {
        return outer.spawn(
            "grows-again",
            [](dag::Context& inner, int w) {
              return inner.spawn(
                  "leaf", [](int x) { return x; }, w);
            },
            v);
      },
      value);
  auto odd = g.task("odd", [] { return 0; }).only_if(grows, [](int v) { return v % 2 == 1; });
  auto even = g.task("even", [] { return 0; }).only_if(grows, [](int v) { return v % 2 == 0; });
  auto job = session->submit(g);
  REQUIRE(job.get(grows) == value);
  REQUIRE(job.outcome(odd) == (value == 1 ? dag::Outcome::finished : dag::Outcome::skipped));
  REQUIRE(job.outcome(even) == (value == 2 ? dag::Outcome::finished : dag::Outcome::skipped));
}
