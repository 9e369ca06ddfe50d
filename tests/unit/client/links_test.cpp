// Which nodes hear which others, out of what each says itself.
#include "libdag/client/links.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;

namespace {

NodeInfo node(std::uint32_t number, std::optional<HeardOf> heard = {},
              MemberState state = MemberState::alive) {
  NodeInfo info;
  info.life = {ProcessId{number}, {1}};
  info.state = state;
  info.heard = heard;
  return info;
}
std::string text(const std::vector<NodeLink>& links) {
  std::string all;
  for (const NodeLink& link : links)
    all += to_string(link.from) + ">" + to_string(link.to) + (link.heard ? "" : "-") +
           (link.suspect ? "?" : "") + (link.in_trouble() ? "! " : " ");
  return all;
}
const ProcessId n0{0}, n1{1}, n2{2};

}  // namespace

TEST_CASE("of every two nodes it is said how they hear each other, the slowest first") {
  CHECK(links_between({}).empty());
  CHECK(links_between({{n0, {node(0)}}}).empty());
  const auto links = links_between(
      {{n0, {node(0), node(1, HeardOf{90ms, 2ms})}}, {n1, {node(1), node(0, HeardOf{10ms, 3ms})}}});
  CHECK(text(links) == "n1>n0 n0>n1 ");
  CHECK(links.front().heard == HeardOf{10ms, 3ms});
}

TEST_CASE("a cut of the net comes first, from the side that hears nothing") {
  // n2 hears all. n0 has given n1 up, n1 asks others about n0, and n2 is late for n0.
  CHECK(text(links_between(
            {{n0, {node(0), node(1, {}, MemberState::dead), node(2, HeardOf{2500ms, 1ms})}},
             {n1, {node(1), node(0, HeardOf{900ms, 1ms}, MemberState::suspect), node(2, HeardOf{5ms, 9ms})}},
             {n2, {node(2), node(0, HeardOf{10ms, 1ms}), node(1, HeardOf{10ms, 1ms})}}})) ==
        "n0>n1-! n1>n0?! n0>n2! n1>n2 n2>n0 n2>n1 ");
  // A node that does not answer is heard or not; a node that all take for gone is no end of a link.
  CHECK(text(links_between({{n0, {node(0), node(1, HeardOf{10ms, 1ms}), node(2, {}, MemberState::left)}}})) ==
        "n0>n1 ");
  // Nobody but n1 knows of n2, yet.
  CHECK(text(links_between({{n0, {node(0), node(1, HeardOf{10ms, 1ms})}},
                            {n1, {node(1), node(0, HeardOf{10ms, 1ms}), node(2, HeardOf{10ms, 0ms})}}})) ==
        "n0>n2-! n0>n1 n1>n0 n1>n2 ");
}
