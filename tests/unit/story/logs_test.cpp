// Logs of tasks and output of processes, as lines.
#include "libdag/story/logs.hpp"

#include <catch2/catch.hpp>

#include "libdag/client/explain.hpp"

using namespace dag;
using namespace dag::detail;

namespace {

constexpr JobId job{7};

std::vector<LogLine> lines_of(EventWhat what, EventPlace place = {{0x10002}, 3}) {
  return lines_in({5, {{2}, {1}}, {Instant{}, place, job, {0, 4}, {{1, 1}, 2}, std::move(what)}});
}

}  // namespace

TEST_CASE("what a task said has its name, its node and its attempt before it") {
  const auto lines = lines_of(event::Said{"train", "loss 0.5\nand more", 3});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].text == "loss 0.5");
  CHECK(lines[1].text == "and more");
  CHECK(prefix_of(lines[0]) == "train (4)@n2#3");
  CHECK(lines[0].place == "n2/w1/l3");
  CHECK(lines[0].unix_ns == 5);
  CHECK(LogFilter{selector_of("train")}.takes(lines[0]));
  CHECK(LogFilter{selector_of("4")}.takes(lines[0]));
  CHECK(LogFilter{}.takes(lines[0]));
  CHECK_FALSE(LogFilter{selector_of("tra")}.takes(lines[0]));
  // An older record does not say which attempt, as Context::attempt says.
  CHECK(prefix_of(lines_of(event::Said{"", "x"}).front()) == "4@n2#2");
}

TEST_CASE("what a process printed has the process, an empty line is one, and what is missing is said") {
  const auto lines = lines_of(event::Printed{"one\n\ntwo\n", 17}, {{0x10002}});
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].gap);
  CHECK(lines[0].text.starts_with("17 bytes"));
  CHECK(lines[1].text == "one");
  CHECK(lines[2].text.empty());
  CHECK(lines[3].text == "two");
  CHECK(prefix_of(lines[3]) == "n2/w1");
  CHECK_FALSE(LogFilter{selector_of("train")}.takes(lines[1]));
  CHECK(LogFilter{selector_of("train")}.takes(lines[0]));  // Missing output may be of that task, too.
  CHECK(lines_of(event::Ran{Outcome::finished, Duration{1}, {}}).empty());
}
