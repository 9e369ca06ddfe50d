// How many jobs and clients a node has room for.
#include "libdag/keeper/node_room.hpp"

#include <catch2/catch.hpp>

using namespace dag;

namespace {

NodeLimits with_files(std::uint64_t files) {
  NodeLimits limits;
  limits.files = files;
  return limits;
}

}  // namespace

TEST_CASE("a node without limits has room for any number") { CHECK(room_of({}, 3) == NodeRoom{}); }

TEST_CASE("room grows with the limit of open files, and shrinks with the number of nodes") {
  const NodeRoom one = room_of(with_files(1024), 1), three = room_of(with_files(1024), 3);
  CHECK(one.jobs == 48);
  CHECK(one.clients == 64);
  CHECK(one.jobs_by == "1024 open files (ulimit -n)");
  CHECK(three.jobs < one.jobs);
  CHECK(three.clients >= 50);
  const NodeRoom small = room_of(with_files(256), 3);
  CHECK(small.jobs < three.jobs);
  CHECK(small.jobs >= 2);
  CHECK(room_of(with_files(20'000), 3).jobs > 400);
}

TEST_CASE("what fills the room fits into the limit, by what was measured") {
  const std::uint64_t files = GENERATE(128U, 256U, 1024U, 4096U);
  const std::size_t nodes = GENERATE(1U, 3U, 5U);
  const NodeRoom room = room_of(with_files(files), nodes);
  // On a node alone: 19 files, 9 for a job and 5 for a client. Each further node has 5, and 3 for a job.
  const std::uint64_t taken = 19 + 5 * (nodes - 1) + room.jobs * (10 + 3 * (nodes - 1)) + room.clients * 5;
  CHECK(taken <= files);
}

TEST_CASE("processes of whoever shares the limit count, and other nodes of the host have their part") {
  NodeLimits limits;
  limits.processes = {{"processes (ulimit -u)", 4096, 1000}, {"processes (pids.max of /)", 100'000, 50}};
  limits.lanes = 4;
  const NodeRoom alone = room_of(limits, 1);
  CHECK(alone.jobs == (4096 - 1000 - 64) / 16);
  CHECK(alone.jobs_by == "4096 processes (ulimit -u)");
  CHECK(alone.clients == NodeRoom::unlimited);
  limits.nodes_of_host = 2;
  CHECK(room_of(limits, 2).jobs == alone.jobs / 2);
}

TEST_CASE("a node whose limit leaves no room takes one of each all the same") {
  NodeLimits limits = with_files(16);
  limits.processes = {{"processes (ulimit -u)", 100, 100}};
  const NodeRoom room = room_of(limits, 1);
  CHECK(room.jobs == 1);
  CHECK(room.clients == 1);
}

TEST_CASE("who finds no room is told which limit that is") {
  const NodeRoom room = room_of(with_files(1024), 1);
  const Error job = no_room_for_job("n1", room), client = no_room_for_client("n1", room);
  CHECK(job.code == ErrorCode::limit_reached);
  CHECK(job.what ==
        "n1 runs processes of 48 jobs, as many as its limit of 1024 open files (ulimit -n) has room for");
  CHECK(client.what ==
        "n1 serves 64 clients, as many as its limit of 1024 open files (ulimit -n) has room for");
  CHECK_FALSE(client.hint.empty());
}
