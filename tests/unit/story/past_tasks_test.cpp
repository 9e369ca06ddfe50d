// The past of tasks: their attempts, as journals tell them.
#include "libdag/story/past_tasks.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;

namespace {

constexpr AttemptId first{{1, 1}, 1}, second{{1, 1}, 2};

struct Story {
  void tell(std::int64_t unix_ns, std::uint32_t process, AttemptId attempt, EventWhat what,
            TaskId task = {0, 1}) {
    JournalEntry entry{unix_ns, {{process}, {1}}, {}};
    entry.record.job = {7};
    entry.record.task = task;
    entry.record.attempt = attempt;
    entry.record.place.process = {process};
    if (std::holds_alternative<event::Ran>(what)) entry.record.place.lane = 3;
    entry.record.what = std::move(what);
    past.add(entry, line_of(entry));
  }
  PastTask task() const {
    REQUIRE(past.tasks().size() == 1);
    return past.tasks().front();
  }
  PastTasks past{2};
};

}  // namespace

TEST_CASE("a task that was placed, failed and was tried again") {
  Story story;
  story.tell(1000, 0, {}, event::Ready{});
  story.tell(1100, 0, first, event::Placed{{2}, "earliest finish", {{{0}, 5ms}, {{2}, 1ms}}});
  story.tell(1100, 0, first, event::Lent{{2}});
  story.tell(1300, 2, first, event::Started{});
  story.tell(1900, 2, first, event::Ran{Outcome::failed, 500ns, "it threw"});
  story.tell(2000, 0, first, event::Ended{Outcome::failed, 500ns, "it threw"});
  story.tell(2000, 0, first, event::Retried{1ms, true});
  story.tell(3000, 0, second, event::Stolen{{{0}, std::nullopt}});
  story.tell(3000, 0, second, event::Lent{{1}});
  story.tell(3900, 1, second, event::Ran{Outcome::finished, 100ns, {}});
  story.tell(4000, 0, second, event::Settled{Outcome::finished, "train", 2});
  const PastTask task = story.task();
  CHECK(task.name == "train");
  CHECK(task.ready_unix_ns == 1000);
  CHECK(task.settled_unix_ns == 4000);
  REQUIRE(task.steps.size() == 3);
  const PastAttempt& failed = *task.steps[0].attempt;
  CHECK(failed.at == ProcessId{2});
  CHECK(failed.lane == 3u);
  CHECK(failed.ran == 500ns);
  CHECK(failed.began_unix_ns == 1400);
  CHECK(failed.why_there == "chosen: earliest estimated finish");
  CHECK(failed.candidates.size() == 2);
  CHECK(failed.end == "failed: it threw");
  CHECK(failed.number == 1);
  CHECK_FALSE(task.steps[1].attempt);
  const PastAttempt& finished = *task.steps[2].attempt;
  CHECK(finished.at == ProcessId{1});
  CHECK(finished.why_there == "stolen from n0 by this idle process");
  CHECK(finished.end == "finished");
}

TEST_CASE("an attempt whose process it took down, and one that was lost though it came back") {
  Story story;
  story.tell(1000, 0, first, event::Started{});
  story.tell(2000, 9, {}, event::Crashed{1, "signal 11"});
  story.tell(2500, 9, {}, event::Crashed{2, "signal 11"});  // From an attempt without a record.
  story.tell(3000, 0, second, event::Lost{"n2 died"});
  story.tell(3100, 2, second, event::Ran{Outcome::finished, 100ns, {}});
  const PastTask task = story.task();
  REQUIRE(task.steps.size() == 3);
  CHECK(task.steps[0].attempt->end == "crashed its process: signal 11");
  CHECK_THAT(task.steps[1].note, Catch::Contains("signal 11"));
  CHECK(task.steps[2].attempt->end == "lost: n2 died");
  CHECK(task.steps[2].attempt->lane == 3u);
  CHECK_FALSE(task.settled);
}

TEST_CASE("of more tasks than are kept it is said how many there are") {
  Story story;
  for (std::uint32_t task = 1; task <= 5; ++task) {
    story.tell(task, 0, {}, event::Ready{}, {0, task});
    story.tell(10 + task, 0, first, event::Ran{}, {0, task});
  }
  CHECK(story.past.tasks().size() == 2);
  CHECK(story.past.beyond() == 3);
}

TEST_CASE("attempts are numbered as their kernels were told: what is charged to nobody does not count") {
  Story story;
  const AttemptId third{{1, 2}, 1}, fourth{{1, 2}, 2};
  story.tell(1000, 0, first, event::Lent{{1}});
  story.tell(1100, 0, first, event::Lost{"n1 died"});
  story.tell(1200, 0, second, event::Lent{{2}});
  story.tell(1300, 0, second, event::Retried{1ms, true});
  story.tell(1400, 0, third, event::Lent{{2}});
  story.tell(1500, 0, {}, event::Crashed{1, "signal 11"});
  story.tell(1600, 0, fourth, event::Lent{{2}});
  std::vector<std::uint32_t> numbers;
  for (const PastStep& step : story.task().steps) {
    if (step.attempt) numbers.push_back(step.attempt->number);
  }
  CHECK(numbers == std::vector<std::uint32_t>{1, 1, 2, 3});
}
