// Jobs that a draining node still has, by the word of the jobs' leaders.
#include "tools/dag/cluster/drained.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace dag::tool;

namespace {

constexpr ProcessId n0{0}, n1{1}, n2{2}, n3{3};

std::vector<NodeInfo> nodes(std::uint32_t count, ProcessId draining) {
  std::vector<NodeInfo> all(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    all[i].life = {ProcessId{i}, {1}};
    all[i].load.disk = 1;
    all[i].load.draining = draining == ProcessId{i};
  }
  return all;
}

JobInfo job(std::vector<ProcessId> copies, std::vector<ProcessId> processes = {}) {
  JobInfo info;
  info.job = {7};
  info.copies = std::move(copies);
  for (const ProcessId node : processes) info.workers.push_back({{}, node, 0, true, ""});
  return info;
}

const std::vector<JobId> it{JobId{7}}, none;

}  // namespace

TEST_CASE("a node has left what it leads, runs, and holds where another could") {
  const LeftAt left = left_at(n1, nodes(4, n1), {{n1, job({n0, n1, n2}, {n1, n2})}});
  CHECK(left.led == it);
  CHECK(left.processes == it);
  CHECK(left.copies == it);
  CHECK_FALSE(left.nothing());
}

TEST_CASE("a copy that no other node can take stays where it is, if the others are a majority") {
  CHECK(left_at(n1, nodes(3, n1), {{n0, job({n0, n1, n2}, {n0})}}).nothing());
  std::vector<NodeInfo> one_dead = nodes(3, n1);
  one_dead[2].state = MemberState::dead;
  CHECK(left_at(n1, one_dead, {{n0, job({n0, n1, n2})}}).copies == it);
  CHECK(left_at(n1, nodes(2, n1), {{n0, job({n1})}}).copies == it);
  CHECK(left_at(n1, nodes(2, n1), {{n0, job({n0, n1})}}).copies == it);
  CHECK(left_at(n1, nodes(2, n1), {{n0, job({n0})}}).nothing());
}

TEST_CASE("nobody who is draining, too, or holds no copies, counts as one who could") {
  std::vector<NodeInfo> known = nodes(4, n1);
  known[3].load.draining = true;
  CHECK(left_at(n1, known, {{n0, job({n0, n1, n2})}}).nothing());
  known[3].load.draining = false;
  known[3].load.disk = 0;
  CHECK(left_at(n1, known, {{n0, job({n0, n1, n2})}}).nothing());
  CHECK(left_at(n1, nodes(4, n1), {{n0, job({n0, n2, n3})}}).nothing());
}

TEST_CASE("who does not lead a job says nothing of where it is") {
  JobInfo over = job({}, {n1});
  over.phase = JobPhase::finished;
  CHECK(left_at(n1, nodes(3, n1), {{n1, over}}).nothing());
}

TEST_CASE("a process that has ended is not left") {
  JobInfo info = job({n0}, {n1});
  info.workers.front().up = false;
  CHECK(left_at(n1, nodes(2, n1), {{n0, info}}).processes == none);
}
