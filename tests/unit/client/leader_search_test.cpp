// Which node is asked next for a job whose leader is lost, and when the search ends.
#include "libdag/client/leader_search.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;

namespace {

const Error gone{ErrorCode::cluster_lost, "the node at a is gone"};
const Error unknown{ErrorCode::job_unknown, "n1 knows no job1"};
const Error elsewhere{ErrorCode::job_elsewhere, "another node leads it"};

Instant at(Duration since) { return {since}; }

/// The node that is asked, "wait", or the error at the end.
std::string said(const SearchStep& step) {
  if (const auto* ask = std::get_if<AskNode>(&step)) return ask->address;
  if (const auto* end = std::get_if<GiveUp>(&step)) return end->why.what + ": " + end->why.cause;
  return "wait";
}

LeaderSearch search(const std::vector<std::string>& nodes, SearchLimits limits = {}) {
  LeaderSearch made(limits, gone, at(0s));
  made.know(nodes);
  return made;
}

}  // namespace

TEST_CASE("with nobody to ask, it is given up at once") {
  LeaderSearch one = search({});
  CHECK(said(one.next(at(0s))) == "the node at a is gone: ");
}

TEST_CASE("each node is asked once in a round, and rounds have a pause between them") {
  LeaderSearch one = search({"b", "c"});
  one.know({"c", "b"});
  CHECK(said(one.next(at(0s))) == "b");
  CHECK(said(one.next(at(0s))) == "c");
  const SearchStep pause = one.next(at(0s));
  REQUIRE(std::get_if<WaitUntil>(&pause) != nullptr);
  CHECK(std::get<WaitUntil>(pause).at == at(100ms));
  CHECK(said(one.next(at(99ms))) == "wait");
  CHECK(said(one.next(at(100ms))) == "b");
}

TEST_CASE("the node that another one names is asked before the rest, also when nobody has told of it") {
  LeaderSearch one = search({"b", "c"});
  CHECK(said(one.next(at(0s))) == "b");
  one.on_elsewhere(elsewhere, "d", at(0s));
  CHECK(said(one.next(at(0s))) == "d");
  one.on_elsewhere(elsewhere, "b", at(0s));  // Asked in this round: it comes first in the next one.
  CHECK(said(one.next(at(0s))) == "c");
  one.on_elsewhere(elsewhere, "", at(0s));
  CHECK(said(one.next(at(0s))) == "wait");
  CHECK(said(one.next(at(100ms))) == "b");
}

TEST_CASE("nodes that name each other are not asked without a pause, nor for ever") {
  LeaderSearch one = search({"b", "c"});
  std::size_t asked = 0;
  Instant now = at(0s);
  for (;;) {
    const SearchStep step = one.next(now);
    if (const auto* node = std::get_if<AskNode>(&step)) {
      ++asked;
      one.on_elsewhere(elsewhere, node->address == "b" ? "c" : "b", now);
    } else if (const auto* wait = std::get_if<WaitUntil>(&step)) {
      now = wait->at;
    } else {
      CHECK(said(step) == "the node at a is gone: another node leads it");
      break;
    }
  }
  CHECK(now == at(60s));
  CHECK(asked == 1200);
}

TEST_CASE("nodes that do not answer are asked for as long as a node may need to come back") {
  LeaderSearch one = search({"b"});
  CHECK(said(one.next(at(0s))) == "b");
  CHECK(said(one.next(at(0s))) == "wait");
  CHECK(said(one.next(at(29s))) == "b");
  CHECK(said(one.next(at(30s))) == "the node at a is gone: no other node answers");
}

TEST_CASE("a job that all know nothing of is given up after a while, whoever is silent") {
  LeaderSearch one = search({"b", "c"});
  CHECK(said(one.next(at(0s))) == "b");
  one.on_unknown(unknown, at(0s));
  CHECK(said(one.next(at(0s))) == "c");  // Node b does not answer.
  CHECK(said(one.next(at(1s))) == "wait");
  CHECK(said(one.next(at(5s))) == "b");
  one.on_unknown(unknown, at(5s));
  CHECK(said(one.next(at(5s))) == "c");
  CHECK(said(one.next(at(6s))) == "the node at a is gone: n1 knows no job1");
}

TEST_CASE("one node that knows the job is worth more than those that do not") {
  LeaderSearch one = search({"b", "c"});
  for (Duration now = 0s; now < 50s; now += 1s) {
    CHECK(said(one.next(at(now))) == "b");
    one.on_elsewhere(elsewhere, "", at(now));
    CHECK(said(one.next(at(now))) == "c");
    one.on_unknown(unknown, at(now));
    CHECK(said(one.next(at(now))) == "wait");
  }
}

TEST_CASE("without patience for it, one round of nodes that know nothing is enough") {
  LeaderSearch one = search({"b", "c"}, {.unknown = 0s});
  CHECK(said(one.next(at(0s))) == "b");
  one.on_unknown(unknown, at(0s));
  CHECK(said(one.next(at(0s))) == "c");
  SECTION("all of them") { one.on_unknown(unknown, at(0s)); }
  SECTION("all that answer") {}
  CHECK(said(one.next(at(0s))) == "the node at a is gone: n1 knows no job1");
}

TEST_CASE("given up while a majority is missing, that is why") {
  LeaderSearch one = search({"b"});
  Instant now = at(0s);
  for (;;) {
    const SearchStep step = one.next(now);
    if (std::get_if<AskNode>(&step)) {
      one.on_elsewhere({ErrorCode::no_quorum, "b hears no majority"}, "", now);
    } else if (const auto* wait = std::get_if<WaitUntil>(&step)) {
      now = wait->at;
    } else {
      CHECK(std::get<GiveUp>(step).why.code == ErrorCode::no_quorum);
      break;
    }
  }
  CHECK(now == at(60s));
}
