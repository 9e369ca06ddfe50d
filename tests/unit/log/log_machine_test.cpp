// How records become batches, and batches segments.
#include "libdag/base/check.hpp"
#include "tests/unit/log/log_world.hpp"

using namespace dag;
using namespace dag::log;
using namespace dag::log::test;

TEST_CASE("one batch is under way at a time, and takes what came meanwhile") {
  LogMachine machine(identity, Written::options(), {});
  CHECK_FALSE(machine.next_batch());
  CHECK(machine.append(record_of(said(1, 10))) == 1);
  REQUIRE(machine.next_batch());
  CHECK(machine.append(record_of(said(2, 10))) == 2);
  CHECK(machine.append(record_of(said(3, 10))) == 3);
  CHECK_FALSE(machine.next_batch());
  CHECK(machine.waiting_bytes() == 3 * record_bytes(10));
  CHECK(machine.on_written() == 1);
  const Batch second = machine.next_batch().value();
  CHECK(second.offset == head_bytes + record_bytes(10));
  CHECK(second.bytes.size() == 2 * record_bytes(10));
  CHECK(machine.on_written() == 3);
  CHECK(machine.waiting_bytes() == 0);
  CHECK_FALSE(machine.next_batch());
}

TEST_CASE("a batch ends where it is large enough, and where the segment does") {
  LogMachine machine(identity, {head_bytes + 10 * record_bytes(8), 4 * record_bytes(8)}, {});
  for (std::uint64_t index = 1; index <= 12; ++index) machine.append(record_of(said(index, 8)));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> batches;  // segment, records known then
  while (const auto batch = machine.next_batch()) {
    CHECK((batch->offset == 0) == (batches.empty() || batches.back().first != batch->segment));
    batches.emplace_back(batch->segment, machine.on_written());
  }
  CHECK(batches == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 4}, {1, 8}, {1, 10}, {2, 12}});
}

TEST_CASE("a full disk loses nothing: the batch is formed again") {
  LogMachine machine(identity, Written::options(), {});
  machine.append(record_of(said(1, 10)));
  const Batch first = machine.next_batch().value();
  machine.on_full();
  machine.append(record_of(said(2, 10)));
  const Batch again = machine.next_batch().value();
  CHECK(again.segment == first.segment);
  CHECK(again.bytes.size() == first.bytes.size() + record_bytes(10));
  CHECK(machine.on_written() == 2);
}

TEST_CASE("the largest record that a segment holds, and one that it does not") {
  LogMachine machine(identity, Written::options(), {});
  const std::size_t most = machine.payload_bytes_max();
  machine.append(record_of(said(1, most)));
  machine.append(record_of(said(2, 0)));
  CHECK(machine.next_batch()->bytes.size() == Written::segment_bytes);
  machine.on_written();
  CHECK(machine.next_batch()->segment == 2);
  CHECK_THROWS_AS(machine.append(record_of(said(3, most + 1))), Bug);
}
