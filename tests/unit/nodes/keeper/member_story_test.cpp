// A node's record of the nodes of its cluster.
#include "nodes/keeper/member_story.hpp"

#include <spdlog/sinks/null_sink.h>

#include <catch2/catch.hpp>

using namespace dag;

namespace {

struct Kept final : EventSink {
  std::vector<std::string> lines;
  void record(const JournalEvent& record) override { lines.push_back(to_string(record.what)); }
};

Claim claim(std::uint32_t node, LoadSummary load) {
  Claim one;
  one.life = {ProcessId{node}, Incarnation{1}};
  one.load = std::move(load);
  return one;
}

LoadSummary with_lanes(std::uint32_t lanes) {
  LoadSummary load;
  load.devices.push_back({"cpu", lanes, lanes, std::uint64_t{24} << 30, 0, Duration{0}});
  return load;
}

}  // namespace

TEST_CASE("what a node has is kept when it is new, and not with every task that runs there") {
  Kept kept;
  spdlog::logger logger("none", std::make_shared<spdlog::sinks::null_sink_mt>());
  MemberStory story(ProcessId{1}, &kept, logger);
  LoadSummary load = with_lanes(2);
  story.seen({claim(2, load)});
  load.devices.front().lanes_free = 1;
  load.tasks_ready = 7;
  story.seen({claim(2, load)});
  CHECK(kept.lines == std::vector<std::string>{"member n2.1 has: 2 cpu lanes, 24.0 GiB"});
  load.disk_full = load.draining = true;
  story.seen({claim(2, load)});
  CHECK(kept.lines.back() == "member n2.1 has: 2 cpu lanes, 24.0 GiB; its disk is full; it is draining");
  load.disk_full = load.draining = false;
  story.seen({claim(2, load)});
  CHECK(kept.lines.size() == 3);
  // A node that comes back announces it again.
  story.down({{ProcessId{2}, Incarnation{1}}, DownWhy::left});
  story.seen({claim(2, load)});
  CHECK(kept.lines.size() == 5);
}

TEST_CASE("a node that runs nothing says so") {
  LoadSummary load;
  load.witness = true;
  CHECK(words_of(load) == "runs nothing: it is a witness");
  CHECK(words_of(with_lanes(1)) == "1 cpu lane, 24.0 GiB");
}
