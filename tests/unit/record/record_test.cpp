// One record, one line a person can read and grep.
#include "libdag/record/record.hpp"

#include <catch2/catch.hpp>

#include "libdag/record/sink.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

Record record_of(RecordWhat what) {
  return {.at = Instant{12'345'678ns},
          .place = {ProcessId{1}, 0},
          .job = JobId{7},
          .task = TaskId{0, 41},
          .attempt = AttemptId{{1, 0}, 2},
          .what = std::move(what)};
}

}  // namespace

TEST_CASE("each kind of record has its line") {
  struct Row {
    RecordWhat what;
    std::string text;
  };
  const auto row = GENERATE(
      Row{recorded::Ready{}, "ready"}, Row{recorded::Placed{ProcessId{1}, "short"}, "placed on n1 by short"},
      Row{recorded::Placed{ProcessId{2},
                           "earliest finish",
                           {{ProcessId{1}, 20ms, 0s, 1500us},
                            {ProcessId{2}, 0s, 3ms, 1500us},
                            {ProcessId{3}, {}, {}, {}, "has no gpu"}}},
          "placed on n2 by earliest finish; n1 wait 20ms move 0 run 1.5ms; n2 wait 0 move 3ms run 1.5ms; "
          "n3 no (has no gpu)"},
      Row{recorded::Lent{ProcessId{3}}, "lent to n3"},
      Row{recorded::Returned{"input missing"}, "returned: input missing"},
      Row{recorded::Stolen{{ProcessId{2}, 5}}, "stolen from n2/l5"}, Row{recorded::Started{}, "started"},
      Row{recorded::Ended{Outcome::finished, 2s}, "ended finished after 2s"},
      Row{recorded::Ended{Outcome::failed, 15ns, "threw:\nbad"}, "ended failed after 15ns: threw:\\nbad"},
      Row{recorded::Lost{"n2.1 died"}, "lost: n2.1 died"},
      Row{recorded::Retried{100ms, true}, "tried again after 100ms"},
      Row{recorded::Retried{0s, false}, "tried again after 0, not charged"},
      Row{recorded::Cancelled{}, "cancelled"}, Row{recorded::Settled{}, "settled"},
      Row{recorded::OutputLost{1}, "output 1 lost"},
      Row{recorded::Spawned{TaskId{0, 3}, AttemptId{{1, 0}, 1}}, "spawned by 3#1.0.1"});
  CHECK(to_string(record_of(row.what)) == "0.012345678 job7/41#1.0.2 n1/l0 " + row.text);
}

TEST_CASE("a task with a name is called by it, on one line whatever the name holds") {
  const auto record = record_of(recorded::Started{});
  CHECK(to_string(record, [](TaskId) { return "B"; }) == "0.012345678 job7/B#1.0.2 n1/l0 started");
  CHECK(to_string(record, [](TaskId) { return ""; }) == "0.012345678 job7/41#1.0.2 n1/l0 started");
  CHECK(to_string(record, [](TaskId) { return "a\nb\x1b[2J"; }) ==
        "0.012345678 job7/a\\nb?[2J#1.0.2 n1/l0 started");
}

TEST_CASE("before an attempt, and off the lanes, less is said") {
  auto record = record_of(recorded::Ready{});
  record.attempt = {};
  record.place.lane.reset();
  CHECK(to_string(record) == "0.012345678 job7/41 n1 ready");
}

TEST_CASE("membership belongs to no job") {
  Record record;
  record.at = Instant{61s};
  record.place.process = ProcessId{1};
  record.what = recorded::Member{Life{{2}, {3}}, recorded::MemberChange::down, "silent"};
  CHECK(to_string(record) == "61.000000000 n1 member n2.3 down: silent");
}

TEST_CASE("the collecting sink keeps the newest") {
  CollectingRecordSink sink(3);
  RecordSink& port = sink;
  for (std::uint32_t index = 0; index < 5; ++index) {
    Record record;
    record.task.index = index;
    port.record(record);
  }
  REQUIRE(sink.records().size() == 3);
  CHECK(sink.records().front().task.index == 2);
  CHECK(sink.records().back().task.index == 4);
  CHECK(sink.dropped() == 2);
  CollectingRecordSink none(0);
  none.record(Record{});
  CHECK(none.records().empty());
  CHECK(none.dropped() == 1);
  NullRecordSink null;
  null.record(Record{});
}
