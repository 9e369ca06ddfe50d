#include "nodes/keeper/progress_watch.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace dag;
using namespace std::chrono_literals;

namespace {

struct Watched {
  Instant now{100s};
  Duration disk{0}, answer_takes{0};
  std::vector<std::pair<Instant, std::function<void()>>> asked;
  std::vector<std::pair<bool, std::string>> said;
  ProgressWatch watch{500ms,
                      {[this] { return now; }, [this] { return disk; },
                       [this](std::function<void()> heard) { asked.emplace_back(now, std::move(heard)); },
                       [this](bool sick, const std::string& text) { said.emplace_back(sick, text); }}};

  /// Heartbeats of 100 ms, each late by this.
  bool beats(int count, Duration late = Duration{0}) {
    bool sick = false;
    for (int i = 0; i < count; ++i) {
      now = now + 100ms + late;
      std::vector<std::pair<Instant, std::function<void()>>> waiting;
      for (auto& one : std::exchange(asked, {})) {
        if (one.first + answer_takes <= now) {
          one.second();
        } else {
          waiting.push_back(std::move(one));
        }
      }
      asked = std::move(waiting);
      sick = watch.look(100ms);
      REQUIRE(asked.size() <= 1);  // A single question at a time.
    }
    return sick;
  }
};

}  // namespace

TEST_CASE("a node is sick by its disk, its actors or its own turn, whichever is late") {
  Watched node;
  CHECK_FALSE(node.beats(100));
  Duration late{0};
  std::string what;
  SECTION("its disk") {
    node.disk = 800ms;
    what = "no disk progress for 800 ms";
  }
  SECTION("its actors, all the time") {
    node.answer_takes = 1h;
    what = "no answer of its actors for ";
  }
  SECTION("its actors, each time") {
    node.answer_takes = 700ms;
    what = "no answer of its actors for ";
  }
  SECTION("its turn") {
    late = 700ms;
    what = "timer 700 ms late";
  }
  CHECK(node.beats(50, late));
  REQUIRE(node.said.size() == 1);
  CHECK(node.said.front().first);
  CHECK_THAT(node.said.front().second, Catch::Contains(what));
  node.disk = node.answer_takes = Duration{0};
  CHECK_FALSE(node.beats(60));
  REQUIRE(node.said.size() == 2);
  CHECK_FALSE(node.said.back().first);
}
