// Each record is a line that a person can read and grep.
#include "libdag/journal/event.hpp"

#include <catch2/catch.hpp>

#include "libdag/journal/outcome.hpp"
#include "libdag/journal/sink.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

JournalEvent record_of(EventWhat what) {
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
    EventWhat what;
    std::string text;
  };
  const auto row = GENERATE(
      Row{event::Ready{}, "ready"}, Row{event::Placed{ProcessId{1}, "short"}, "placed on n1 by short"},
      Row{event::Placed{ProcessId{2},
                        "earliest finish",
                        {{ProcessId{1}, 20ms, 0s, 1500us},
                         {ProcessId{2}, 0s, 3ms, 1500us},
                         {ProcessId{3}, {}, {}, {}, "has no gpu"}}},
          "placed on n2 by earliest finish; n1 wait 20 ms, transfer 0 s, run 1.5 ms; n2 wait 0 s, transfer 3 "
          "ms, run "
          "1.5 ms; n3 has no gpu"},
      Row{event::Lent{ProcessId{3}}, "dispatched to n3"},
      Row{event::Returned{"input missing"}, "returned: input missing"},
      Row{event::Stolen{{ProcessId{2}, 5}}, "stolen from n2/l5"}, Row{event::Started{}, "started"},
      Row{event::Ended{Outcome::finished, 2s}, "ended: finished in 2 s"},
      Row{event::Ended{Outcome::failed, 15ns, "threw:\nbad"}, "ended: failed in 15 ns: threw:\\nbad"},
      Row{event::Lost{"n2.1 died"}, "lost: n2.1 died"},
      Row{event::Retried{100ms, true}, "retried after 100 ms"},
      Row{event::Retried{0s, false}, "retried after 0 s, not charged"}, Row{event::Cancelled{}, "cancelled"},
      Row{event::Settled{}, "settled: finished"},
      Row{event::Settled{Outcome::failed, "B", 3, Error{ErrorCode::task_failed, "threw"}, 2s},
          "settled: failed, 3 tries, 2 s after its deadline: threw"},
      Row{event::Ran{Outcome::failed, 1ms, "threw"}, "failed in 1 ms: threw"},
      Row{event::Became{TaskId{1, 5}, 1ms}, "became " + to_string(TaskId{1, 5}) + " in 1 ms"},
      Row{event::StartedOver{"another value"}, "waits again: another value"},
      Row{event::RolledBack{0, "a call failed"}, "rolled back to its creation: a call failed"},
      Row{event::RolledBack{2, ""}, "rolled back to save 2"}, Row{event::Restored{}, "restored"},
      Row{event::Crashed{2, "signal 11"}, "crashed its process (2 times so far): signal 11"},
      Row{event::TasksKnown{false, {{"part", 4}, {"sum", 1}}}, "spawned: 4 part 1 sum"},
      Row{event::Saved{2048, 0}, "saved 2048 bytes"},
      Row{event::Saved{0, 3}, "save 3 of its group is complete"}, Row{event::OutputLost{1}, "output 1 lost"},
      Row{event::Spawned{TaskId{0, 3}, AttemptId{{1, 0}, 1}}, "spawned by 3#1.0.1"});
  CHECK(to_string(record_of(row.what)) == "0.012345678 job7/41#1.0.2 n1/l0 " + row.text);
}

TEST_CASE("a task with a name is called by it, on one line whatever the name holds") {
  const auto record = record_of(event::Started{});
  CHECK(to_string(record, [](TaskId) { return "B"; }) == "0.012345678 job7/B#1.0.2 n1/l0 started");
  CHECK(to_string(record, [](TaskId) { return ""; }) == "0.012345678 job7/41#1.0.2 n1/l0 started");
  CHECK(to_string(record, [](TaskId) { return "a\nb\x1b[2J"; }) ==
        "0.012345678 job7/a\\nb?[2J#1.0.2 n1/l0 started");
}

TEST_CASE("before an attempt, and off the lanes, less is said") {
  auto record = record_of(event::Ready{});
  record.attempt = {};
  record.place.lane.reset();
  CHECK(to_string(record) == "0.012345678 job7/41 n1 ready");
}

TEST_CASE("membership belongs to no job") {
  JournalEvent record;
  record.at = Instant{61s};
  record.place.process = ProcessId{1};
  record.what = event::Member{Life{{2}, {3}}, event::MemberChange::down, "silent"};
  CHECK(to_string(record) == "61.000000000 n1 member n2.3 down: silent");
  record.what = event::Member{Life{{2}, {3}}, event::MemberChange::trusted};
  CHECK(to_string(record) == "61.000000000 n1 member n2.3 heard again");
  record.what = event::Member{Life{{2}, {3}}, event::MemberChange::has, "1 cpu lane"};
  CHECK(to_string(record) == "61.000000000 n1 member n2.3 has: 1 cpu lane");
  record.what = event::Member{Life{{2}, {3}}, event::MemberChange{9}};  // A later version's.
  CHECK(to_string(record) == "61.000000000 n1 member n2.3 changed");
}

TEST_CASE("what is about a shard, or the whole job, names no task") {
  JournalEvent record;
  record.place.process = ProcessId{1};
  record.job = JobId{7};
  record.what = event::HomeGiven{2, Life{{3}, {1}}, {1, 4}};
  CHECK(to_string(record) == "0.000000000 job7 n1 shard 2 given to n3.1, epoch 1.4");
  record.what = event::Leads{4};
  CHECK(to_string(record) == "0.000000000 job7 n1 leads the job's record, term 4");
  record.what = event::Recounted{2, {1, 4}};
  CHECK(to_string(record) == "0.000000000 job7 n1 shard 2 rebuilt, epoch 1.4");
  record.what = event::TasksKnown{true, {{"a", 1}, {"b", 2}}};
  CHECK(to_string(record) == "0.000000000 job7 n1 submitted: 1 a 2 b");
}

TEST_CASE("of two runs the ends of tries and tasks are compared, without what is measured or drawn") {
  const auto text = [](EventWhat what) {
    const JournalEvent record = record_of(std::move(what));
    return is_outcome(record) ? outcome_text(record) : "-";
  };
  CHECK(text(event::Ended{Outcome::failed, 3ms, "threw"}) == "ended: failed in 0 s: threw");
  CHECK(text(event::Retried{100ms, true}) == "retried after 0 s");
  CHECK(text(event::Cancelled{"by hand"}) == "cancelled: by hand");
  CHECK(text(event::Settled{Outcome::failed, "B", 2, Error{ErrorCode::timed_out, "B (7) was slow"}, 1s}) ==
        "settled: failed, 2 tries: timed_out");
  CHECK(text(event::Started{}) == "-");
  CHECK(text(event::Lost{"its process died"}) == "-");
}

TEST_CASE("the collecting sink keeps the newest") {
  CollectingEventSink sink(3);
  EventSink& port = sink;
  for (std::uint32_t index = 0; index < 5; ++index) {
    JournalEvent record;
    record.task.index = index;
    port.record(record);
  }
  REQUIRE(sink.records().size() == 3);
  CHECK(sink.records().front().task.index == 2);
  CHECK(sink.records().back().task.index == 4);
  CHECK(sink.dropped() == 2);
  CollectingEventSink none(0);
  none.record(JournalEvent{});
  CHECK(none.records().empty());
  CHECK(none.dropped() == 1);
  CHECK(none.enabled());
  NullEventSink null;
  null.record(JournalEvent{});
  CHECK_FALSE(null.enabled());
}
