// Which copies a log should have, and the single steps that lead there.
#include "libdag/consensus/reconfiguration.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/consensus/box.hpp"

using namespace dag;
using namespace dag::consensus;
using namespace dag::consensus::test;
using namespace std::chrono_literals;

namespace {

Seat seat(std::uint32_t node, std::uint64_t disk = 1) { return {ProcessId{node}, disk}; }

/// A leader whose log has only its own copy's word: everybody else answers at once.
struct Leader : Box {
  explicit Leader(const std::vector<Seat>& voters) : Box(voters.front()) {
    std::vector<Seat> sorted = voters;
    std::sort(sorted.begin(), sorted.end());
    begin(sorted);
    wait_until_due();
    for (const bool pre : {true, false}) {
      for (const Seat& voter : voters) {
        if (voter != voters.front()) hear(VoteAnswer{voter, 1, true, pre});
      }
      write();
    }
    REQUIRE(replica.role() == Replica::Role::leader);
    agree();
  }
  /// All that are there have all.
  void agree() {
    take();
    write();
    const Configuration all = replica.configuration();
    for (const auto* seats : {&all.voters, &all.learners}) {
      for (const Seat& one : *seats) {
        if (one != replica.self() && !silent(one)) hear(on_disk(one, 1, replica.last_index()));
      }
    }
    write();
  }
  bool silent(const Seat& one) const { return std::find(gone.begin(), gone.end(), one) != gone.end(); }
  /// Step by step, until nothing is left to do. How many steps.
  int settle_on(const std::vector<Seat>& alive, std::size_t copies) {
    for (int steps = 0;; ++steps) {
      const auto to = next_change(replica, alive, leaving, copies, now);
      if (!to) return steps;
      REQUIRE(steps < 20);
      REQUIRE(replica.change(*to, now));
      agree();
    }
  }

  std::vector<Seat> gone, leaving;
};

}  // namespace

TEST_CASE("a log grows to as many copies as are wanted: learners first") {
  Leader leader({seat(0)});
  const std::vector<Seat> alive{seat(2), seat(0), seat(1), seat(3)};
  const auto first = next_change(leader.replica, alive, {}, 3, leader.now);
  REQUIRE(first);
  CHECK(first->voters == std::vector{seat(0)});
  CHECK(first->learners == std::vector{seat(2)});
  CHECK(leader.settle_on(alive, 3) == 4);
  CHECK(leader.replica.configuration() == Configuration{{seat(0), seat(1), seat(2)}, {}});
}

TEST_CASE("who is dead is replaced, and leaves only when another is there") {
  Leader leader({seat(0), seat(1), seat(2)});
  leader.gone = {seat(1)};
  CHECK(leader.settle_on({seat(0), seat(2)}, 3) == 0);  // Nobody could take its place.
  CHECK(leader.settle_on({seat(0), seat(2), seat(3)}, 3) == 3);
  CHECK(leader.replica.configuration() == Configuration{{seat(0), seat(2), seat(3)}, {}});
}

TEST_CASE("a copy that is silent for long is replaced although its node lives") {
  Leader leader({seat(0), seat(1), seat(2)});
  leader.gone = {seat(1)};
  const std::vector<Seat> alive{seat(0), seat(1), seat(2), seat(3)};
  leader.now = leader.now + leader.options({}).given_up_after - 1ms;
  leader.agree();
  CHECK(leader.settle_on(alive, 3) == 0);
  leader.now = leader.now + 1ms;
  leader.agree();
  CHECK(leader.settle_on({seat(0), seat(1), seat(2)}, 3) == 0);  // Nobody could take its place.
  CHECK(leader.settle_on(alive, 3) == 3);
  CHECK(leader.replica.configuration() == Configuration{{seat(0), seat(2), seat(3)}, {}});
}

TEST_CASE("who is leaving is replaced, and goes only when another is there") {
  Leader leader({seat(0), seat(1), seat(2)});
  leader.leaving = {seat(1)};
  CHECK(leader.settle_on({seat(0), seat(2)}, 3) == 0);  // Already there: two of three would be less.
  CHECK(leader.settle_on({seat(0), seat(2), seat(3)}, 3) == 3);
  CHECK(leader.replica.configuration() == Configuration{{seat(0), seat(2), seat(3)}, {}});
}

TEST_CASE("a leader that is leaving gets a copy made elsewhere, and leaves its own to the next one") {
  Leader leader({seat(0)});
  leader.leaving = {seat(0)};
  CHECK(leader.settle_on({seat(1)}, 1) == 2);
  CHECK(leader.replica.configuration() == Configuration{{seat(0), seat(1)}, {}});
  Leader next({seat(1), seat(0)});
  next.leaving = {seat(0)};
  CHECK(next.settle_on({seat(1)}, 1) == 1);
  CHECK(next.replica.configuration() == Configuration{{seat(1)}, {}});
}

TEST_CASE("nobody who is leaving learns") {
  Leader leader({seat(0)});
  REQUIRE(leader.replica.change({{seat(0)}, {seat(1)}}, leader.now));
  leader.agree();
  leader.leaving = {seat(1)};
  CHECK(leader.settle_on({seat(0)}, 3) == 1);
  CHECK(leader.replica.configuration() == Configuration{{seat(0)}, {}});
}

TEST_CASE("a node with another disk takes its old seat's place") {
  Leader leader({seat(0), seat(1), seat(2)});
  leader.gone = {seat(2)};
  leader.settle_on({seat(0), seat(1), seat(2, 7)}, 3);
  CHECK(leader.replica.configuration() == Configuration{{seat(0), seat(1), seat(2, 7)}, {}});
}

TEST_CASE("copies that are too many go from the end of the ranking") {
  Leader leader({seat(0), seat(1), seat(2)});
  leader.settle_on({seat(2), seat(1), seat(0)}, 1);
  CHECK(leader.replica.configuration() == Configuration{{seat(0)}, {}});  // the leader stays
}

TEST_CASE("logs spread over the nodes by weight, and move little when one goes") {
  std::vector<Candidate> nodes;
  for (std::uint32_t i = 0; i < 10; ++i) nodes.push_back({seat(i), i == 0 ? 3.0 : 1.0});
  std::map<std::uint32_t, int> first;
  int moved = 0;
  for (std::uint64_t log = 0; log < 12'000; ++log) {
    const auto all = ranked(log, nodes);
    REQUIRE(all.size() == 10);
    ++first[all[0].node.value];
    const auto without = ranked(log, {nodes.begin(), nodes.end() - 1});
    if (all[0] != seat(9)) moved += without[0] != all[0] ? 1 : 0;
  }
  CHECK(moved == 0);
  CHECK(first[0] == Approx(3000).margin(200));
  for (std::uint32_t i = 1; i < 10; ++i) CHECK(first[i] == Approx(1000).margin(130));
}
