// The view of a job that is watched.
#include "tools/dag/views/progress.hpp"

#include <catch2/catch.hpp>

#include "tools/dag/views/print.hpp"

using namespace dag;
using namespace dag::tool;
using namespace std::chrono_literals;

namespace {

JobInfo job() {
  JobInfo job;
  job.job = JobId{7};
  job.name = "train";
  job.phase = JobPhase::running;
  job.counts = {588, 408, 3, 1, 0};
  job.age = 75s;
  job.workers = {{{ProcessId{1u << 16}, Incarnation{3}}, ProcessId{0}, 4711, true, ""},
                 {{ProcessId{2u << 16}, Incarnation{3}}, ProcessId{0}, 4712, false, "signal 11"}};
  job.details.emplace();
  job.details->classes = {
      {"load", {0, 100, 0, 0, 0}}, {"step", {500, 308, 3, 0, 0}}, {"write", {88, 0, 0, 1, 0}}};
  return job;
}

JobCounts ended_tasks(std::uint64_t finished) { return {1000 - finished, finished, 0, 0, 0}; }

Pace pace_of(std::uint64_t per_second) {
  Pace pace;
  for (std::uint64_t second = 0; second < 3; ++second) {
    pace.on_counts(ended_tasks(second * per_second), {std::chrono::seconds(second)});
  }
  return pace;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("a job is drawn: title, a bar for all of it and one for each name, pace") {
  CHECK(text_of(progress_lines(job(), pace_of(12), {})) ==
        "job7 train: running, 1 min 15 s\n"
        "[######################!...............................]  41% 412/1000, 3 failed\n"
        "load  [################################################] 100% 100/100\n"
        "step  [##################!.............................]  38% 311/811, 3 failed\n"
        "write [................................................]   1% 1/89\n"
        "12 tasks/s, left 49 s, 1 process, 3 failed, 1 skipped\n");
}

TEST_CASE("where bars are not wanted, the numbers stand in their columns") {
  Screen screen;
  screen.bars = false;
  CHECK(text_of(progress_lines(job(), pace_of(12), screen)) ==
        "job7 train: running, 1 min 15 s\n"
        "       41% 412/1000, 3 failed\n"
        "load  100% 100/100\n"
        "step   38% 311/811, 3 failed\n"
        "write   1% 1/89\n"
        "12 tasks/s, left 49 s, 1 process, 3 failed, 1 skipped\n");
  screen.columns = 20;
  const std::vector<std::string> narrow = progress_lines(job(), pace_of(12), screen);
  CHECK_THAT(text_of(narrow), Catch::Contains("\nstep   38% 311/811!\n"));
  for (const std::string& line : narrow) CHECK(line.size() <= screen.columns);
}

TEST_CASE("what is left is what the pace says, and no less than the critical path, which stands beside it") {
  const std::vector<std::string> lines = progress_lines(job(), pace_of(12), {}, PathLeft{90s, 3, {}});
  CHECK(lines[lines.size() - 2] ==
        "12 tasks/s, left 1 min 30 s, critical path 1 min 30 s (3 tasks), 1 process,");
  CHECK_THAT(progress_line(job(), pace_of(12), PathLeft{0s, 1, {}}),
             Catch::Contains("left 49 s, critical path 1 task, 1 process"));
  const auto json = progress_json(job(), pace_of(12), PathLeft{90s, 3, {}});
  CHECK(json.at("critical_path_seconds") == 90.0);
  CHECK(json.at("critical_path_tasks") == 3);
  CHECK(json.at("left_seconds") == 90.0);
  CHECK(progress_json(job(), pace_of(12), PathLeft{20s, 3, {}}).at("left_seconds") == 49.0);
  CHECK(progress_json(job(), pace_of(12), PathLeft{0s, 3, {}}).at("critical_path_seconds").is_null());
  CHECK(progress_json(job(), pace_of(12)).at("critical_path_tasks").is_null());
}

TEST_CASE("a job that still spawns has no share of a whole") {
  Pace pace;
  pace.on_counts({10, 0, 0, 0, 0}, {0s});
  CHECK_FALSE(pace.open_ended());
  pace.on_counts({592, 404, 3, 1, 0}, {1s});
  CHECK(pace.open_ended());
  CHECK_THAT(progress_line(job(), pace),
             Catch::Contains("412/1000 tasks (open-ended, 41 % of what is known)") &&
                 Catch::Contains("left at least "));
  CHECK_THAT(progress_lines(job(), pace, {}).front(), Catch::Contains("open-ended, 41 % of what is known,"));
  CHECK(progress_json(job(), pace).at("open_ended") == true);
  JobInfo over = job();
  over.phase = JobPhase::failed;
  CHECK_THAT(progress_line(over, pace), !Catch::Contains("open-ended"));
  // No task was spawned for as long as the pace looks back.
  for (int second = 2; second < 14; ++second)
    pace.on_counts({592, 404, 3, 1, 0}, {std::chrono::seconds(second)});
  CHECK_FALSE(pace.open_ended());
  CHECK_THAT(progress_line(job(), pace), Catch::Contains("(41%)"));
}

TEST_CASE("a job that states its total has a share of it while it spawns") {
  Pace pace;
  pace.on_counts({10, 0, 0, 0, 0}, {0s});
  pace.on_counts({592, 404, 3, 1, 0}, {1s});
  JobInfo one = job();
  one.total = 2060;
  CHECK_THAT(progress_line(one, pace), Catch::Contains("412/2060 tasks (20%)") &&
                                           Catch::Contains("left 4 s") && !Catch::Contains("open-ended"));
  CHECK_THAT(progress_lines(one, pace, {})[1], Catch::Contains("20% 412/2060"));
  CHECK(progress_json(one, pace).at("open_ended") == false);
  CHECK(progress_json(one, pace).at("total_tasks") == 2060);
  one.total = 999;  // There are more already: nobody knows how many it will be.
  CHECK_THAT(progress_line(one, pace), Catch::Contains("412/1000 tasks (open-ended, 41 %"));
}

TEST_CASE("what kernels say of themselves stands below the names, as far as there is room") {
  JobInfo one = job();
  one.details->progress = {{{0, 41}, "step", 1, "n0/w1/cpu0", 0.456, "loss 0.5"},
                           {{1, 3}, "step", 2, "n0/w1/cpu1", 0, ""}};
  CHECK_THAT(text_of(progress_lines(one, pace_of(12), {})),
             Catch::Contains("1/89\nstep (41) 46 %, loss 0.5\nstep (s0/3) 0 %, attempt 2\n12 tasks/s"));
  CHECK_THAT(progress_line(one, pace_of(12)), Catch::Contains("step (41) 46 %, loss 0.5"));
  CHECK(progress_json(one, {})["details"]["progress"][0]["fraction"] == 0.456);
  CHECK(is_news(job(), one));
  CHECK_THAT(job_text(one), Catch::Contains("  says      step (41): 46 %, loss 0.5\n"));
  for (std::uint32_t i = 0; i < 20; ++i) one.details->progress.push_back({{0, i}, "more", 1, "", 0.5, ""});
  CHECK_THAT(text_of(progress_lines(one, pace_of(12), {80, 24, false})),
             Catch::Contains("and 13 more tasks report progress\n"));
}

TEST_CASE("failures that the job finishes with are told with its phase") {
  JobInfo one = job();
  one.phase = JobPhase::finished;
  one.counts = {0, 4, 3, 0, 0, 3};
  CHECK_THAT(progress_line(one, {}), Catch::Contains("finished, 3 tolerated failures"));
  one.counts = {0, 4, 1, 0, 0, 1};
  CHECK_THAT(jobs_text({one}), Catch::Contains("finished, 1 tolerated failure "));
}

TEST_CASE("a job that has not begun, and one that has ended") {
  JobInfo one;
  one.job = JobId{1};
  one.name = "hello";
  CHECK(text_of(progress_lines(one, {}, {})) ==
        "job1 hello: starting, 0 s\n"
        "[............................................................]   0% 0/0\n"
        "0.0 tasks/s, left -, 0 processes\n");
  one.phase = JobPhase::finished;
  one.counts.finished = 2;
  CHECK(text_of(progress_lines(one, pace_of(12), {})) ==
        "job1 hello: finished, 0 s\n"
        "[############################################################] 100% 2/2\n"
        "0 processes\n");
}

TEST_CASE("on any terminal from 20 columns on nothing is wider or higher than there is room for") {
  const std::size_t columns = GENERATE(20u, 21u, 30u, 40u, 79u, 80u, 81u, 200u);
  const std::size_t rows = GENERATE(2u, 3u, 5u, 8u, 12u, 24u, 60u);
  JobInfo one = job();
  one.name = std::string(100, 'x') + "größer";
  for (int i = 0; i < 30; ++i) {
    one.details->classes.push_back({"größer" + std::string(static_cast<std::size_t>(i), 'x'), one.counts});
  }
  one.counts = {1'000'000'000'000, 999'999'999'999, 12'345, 6, 7};
  CAPTURE(columns, rows);
  const std::vector<std::string> lines = progress_lines(one, pace_of(100), {columns, rows, false});
  CHECK(lines.size() < rows);
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(width(line) <= columns);
  }
}

TEST_CASE("a narrow terminal has short forms, which say that there are failures") {
  CHECK(text_of(progress_lines(job(), pace_of(12), {20, 24, false})) ==
        "job7 train: running,\n"
        "1 min 15 s\n"
        "[####!.......]  41%!\n"
        "load  [######] 100%\n"
        "step  [##!...]  38%!\n"
        "write [......]   1%\n"
        "12 tasks/s,\n"
        "left 49 s,\n"
        "1 process, 3 failed,\n"
        "1 skipped\n");
}

TEST_CASE("names that find no room are counted; those that are under way come first") {
  const std::string text = text_of(progress_lines(job(), pace_of(12), {80, 6, false}));
  CHECK_THAT(text, Catch::Contains("step ") && !Catch::Contains("load ") && !Catch::Contains("write "));
  CHECK_THAT(text, Catch::Contains("\nand 2 more: 101/189\n"));
  JobInfo many = job();
  many.details->others = {5, 5, 1, 0, 0};
  CHECK_THAT(text_of(progress_lines(many, {}, {80, 24, false})), Catch::Contains("\n(further names) ["));
}

TEST_CASE("one failure of many shows in the bar, and only the last task fills it") {
  JobInfo one = job();
  one.details.reset();
  one.counts = {1, 1'000'000, 1, 0, 0};
  CHECK_THAT(progress_lines(one, {}, {}).at(1), Catch::Contains("!]  99% 1000001/1000002, 1 failed"));
  one.counts = {0, 0, 1, 2, 3};
  CHECK_THAT(progress_lines(one, {}, {80, 24, true}).at(1),
             Catch::Contains("\x1b[31m!!") && Catch::Contains("\x1b[33mxx") && !Catch::Contains("\x1b[32m"));
}

TEST_CASE("names cannot write to the terminal what they like") {
  JobInfo one = job();
  one.name = "a\x1b[2J\n";
  one.details->classes[0].name = "b\x1b[2J";
  CHECK_THAT(text_of(progress_lines(one, {}, {})) + progress_line(one, {}), !Catch::Contains("\x1b"));
}

TEST_CASE("the pace is that of the last ten seconds") {
  Pace pace;
  CHECK(pace.tasks_per_second() == std::nullopt);
  pace.on_counts(ended_tasks(100), {0s});
  CHECK(pace.tasks_per_second() == std::nullopt);  // Earlier ends do not count.
  pace.on_counts(ended_tasks(110), {1s});
  CHECK(pace.tasks_per_second() == 10);
  CHECK(pace.left(50) == Duration(5s));
  for (int second = 2; second <= 10; ++second)
    pace.on_counts(ended_tasks(110), {std::chrono::seconds(second)});
  CHECK(pace.tasks_per_second() == 1);
  pace.on_counts(ended_tasks(110), {11s});
  CHECK(pace.tasks_per_second() == std::nullopt);
  CHECK(pace.left(50) == std::nullopt);
}

TEST_CASE("answers that are rare have a pace, and one that says less than the one before begins anew") {
  Pace pace;
  for (int minute = 0; minute < 3; ++minute) {
    pace.on_counts(ended_tasks(static_cast<std::uint64_t>(minute * 120)), {std::chrono::minutes(minute)});
  }
  CHECK(pace.tasks_per_second() == 2);
  pace.on_counts(ended_tasks(10), {200s});
  CHECK(pace.tasks_per_second() == std::nullopt);
  pace.on_counts(ended_tasks(10), {200s});  // At the same time: no pace, and no division by nothing.
  CHECK(pace.tasks_per_second() == std::nullopt);
  pace.on_counts(ended_tasks(11), {201s});
  CHECK(pace.left(~std::uint64_t{0})->count() > 0);
}

TEST_CASE("a drawing goes over the one before, however long that was") {
  CHECK(redrawn({"a", "b"}, 0) == "\x1b[?25l\x1b[?7l\r\x1b[2Ka\n\x1b[2Kb\n\x1b[J\x1b[?7h\x1b[?25h");
  CHECK_THAT(redrawn({"a"}, 12), Catch::Contains("\r\x1b[12A\x1b[2Ka\n\x1b[J"));
}

TEST_CASE("a line for where no terminal is, when there is something to say") {
  CHECK(progress_line(job(), pace_of(12)) ==
        "job7 train: running, 1 min 15 s, 412/1000 tasks (41%), 3 failed, 1 skipped, 12 tasks/s, left 49 s, "
        "1 process\n");
  JobInfo later = job();
  later.age = 80s;
  CHECK_FALSE(is_news(job(), later));
  later.workers[1].up = true;
  CHECK(is_news(job(), later));
  later = job();
  ++later.counts.finished;
  CHECK(is_news(job(), later));
  later = job();
  later.phase = JobPhase::failed;
  CHECK(is_news(job(), later));
}

TEST_CASE("programs read what show says, and the pace") {
  const nlohmann::json json = progress_json(job(), pace_of(12));
  CHECK(json["job"] == "job7");
  CHECK(json["counts"]["finished"] == 408);
  CHECK(json["details"]["classes"].size() == 3);
  CHECK(json["tasks_per_second"] == 12);
  CHECK(json["left_seconds"] == 49);
  CHECK(json["processes_up"] == 1);
  CHECK(progress_json(job(), {})["left_seconds"] == nullptr);
}
