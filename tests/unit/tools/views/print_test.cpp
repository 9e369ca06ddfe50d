// Output about nodes and jobs for people and programs.
#include "tools/dag/views/print.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace dag::tool;
using namespace std::chrono_literals;

namespace {

NodeInfo node() {
  NodeInfo node;
  node.life = {ProcessId{1}, Incarnation{9}};
  node.state = MemberState::suspect;
  node.endpoint = {"127.0.0.1:4000", "127.0.0.1:4001", "127.0.0.1:4002"};
  node.load.devices = {{"cpu", 8, 3, 64ull << 30, 17ull << 30, 1500ms, 2500ms}};
  node.load.tasks_ready = 12;
  return node;
}

JobInfo job() {
  JobInfo job;
  job.job = JobId{(std::uint64_t{2} << 32) | 7};
  job.name = "train";
  job.phase = JobPhase::failed;
  job.counts = {1, 20, 3, 4, 5};
  job.age = 75s;
  job.workers = {{{ProcessId{1u << 16 | 2}, Incarnation{3}}, ProcessId{2}, 4711, true, ""},
                 {{ProcessId{2u << 16 | 2}, Incarnation{3}}, ProcessId{2}, 4712, false, "signal 11"},
                 {{}, ProcessId{1}, 0, false, ""}};
  job.error = Error{ErrorCode::process_crashed, "it crashed", "look", "signal 11"};
  return job;
}

}  // namespace

TEST_CASE("columns are as wide as what is in them, in letters and not in bytes") {
  CHECK(table({"A", "LONG", "C"}, {{"1", "2", "3"}, {"größer", "", ""}, {"x", "yyyyyy", ""}}) ==
        "A       LONG    C\n"
        "1       2       3\n"
        "größer\n"
        "x       yyyyyy\n");
  CHECK(table({"A"}, {}) == "A\n");
}

TEST_CASE("a table that is too wide for its terminal becomes lines, in which nothing is cut") {
  const std::vector<std::vector<std::string>> rows{{"job1", "a long name of it", "7"}, {"job2", "", "8"}};
  CHECK(table({"JOB", "NAME", "ENDED"}, rows, 30) ==
        "JOB   NAME               ENDED\n"
        "job1  a long name of it  7\n"
        "job2                     8\n");
  CHECK(table({"JOB", "NAME", "ENDED"}, rows, 29) ==
        "JOB   job1\n"
        "NAME  a long name of it\n"
        "ENDED 7\n"
        "\n"
        "JOB   job2\n"
        "ENDED 8\n");
  CHECK(table({"A LONG HEAD"}, {}, 5) == "A LONG HEAD\n");
}

TEST_CASE("sizes are readable at every size") {
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(8ull << 30) == "8.0 GiB");
  CHECK(bytes_text(~std::uint64_t{0}) == "16384.0 PiB");
}

TEST_CASE("nodes in a table, and one in full") {
  CHECK(nodes_text({node()}) ==
        "NODE  STATE    ADDRESS         BUSY\n"
        "n1    suspect  127.0.0.1:4000  5/8\n");
  NodeInfo going = node();
  going.state = MemberState::alive;
  going.load.draining = going.load.disk_full = going.load.disk_stuck = going.load.sick = true;
  CHECK_THAT(nodes_text({going}),
             Catch::Contains("n1    alive, draining, disk full, disk stuck, sick  127.0.0.1:4000"));
  NodeInfo asked = node();
  asked.pid = 4710;
  asked.jobs = 2;
  asked.not_ready = {"its disk is full"};
  CHECK(node_text(asked) ==
        "n1 (suspect), life n1.9\n"
        "  address   127.0.0.1:4000, bulk 127.0.0.1:4001\n"
        "  http      http://127.0.0.1:4002/\n"
        "  process   4710\n"
        "  not ready: its disk is full\n"
        "  jobs      2 open\n"
        "  device    cpu: 5 of 8 lanes busy, 17.0 GiB of 64.0 GiB free, backlog 1.5 s\n");
  detail::NodeLink link{ProcessId{1}, ProcessId{2}, std::nullopt, false};
  CHECK(link_text(link) == "n1 does not hear n2");
  link.heard = HeardOf{52ms, 430us};
  CHECK(link_text(link) == "n1 has heard n2 52 ms ago, round trip 0.4 ms");
  link = {ProcessId{1}, ProcessId{2}, HeardOf{900ms, 0ms}, true};
  CHECK(link_text(link) == "n1 has heard n2 900 ms ago, and suspects that n2 is gone");
}

TEST_CASE("jobs in a table, and one in full") {
  CHECK(jobs_text({job()}) ==
        "JOB     NAME   PHASE   ENDED  FAILED  PROCESSES  AGE\n"
        "job2.7  train  failed  32/33  3       1          1 min 15 s\n");
  CHECK(job_text(job()) ==
        "job2.7 train: failed after 1 min 15 s\n"
        "  tasks     20 finished, 3 failed, 4 skipped, 5 cancelled, 1 open\n"
        "  process   n2/w1: up, pid 4711\n"
        "  process   n2/w2: signal 11, pid 4712\n"
        "  process   n1/-: starting\n"
        "  error     process_crashed (213): it crashed\n  because: signal 11\n  hint: look\n");
}

TEST_CASE("of a job that was asked for, the tasks in trouble and the counts by name") {
  JobInfo asked = job();
  asked.error.reset();
  asked.workers.clear();
  const Error threw{ErrorCode::task_failed, "it threw\x1b[2J", "look", "the disk\nsaid no"};
  asked.details = JobDetails{{{TaskId{0, 41}, "load", Outcome::failed, 3, threw, {}},
                              {TaskId{0, 42}, "train", Outcome::cancelled, 0, {}, {}},
                              {TaskId{0, 43}, "save", Outcome::failed, 1, {}, 2s}},
                             17,
                             1,
                             {{"load", {0, 20, 1, 0, 0}}, {"train", {1, 0, 0, 0, 5}}},
                             {0, 0, 2, 4, 0}};
  CHECK(job_text(asked) ==
        "job2.7 train: failed after 1 min 15 s\n"
        "  tasks     20 finished, 3 failed, 4 skipped, 5 cancelled, 1 open\n"
        "  class     load: 20 finished, 1 failed\n"
        "  class     train: 0 finished, 5 cancelled, 1 open\n"
        "  others    0 finished, 2 failed, 4 skipped\n"
        "  late      1 ended after their deadline\n"
        "  task      load (41): failed, 3 tries\n"
        "            task_failed (203): it threw?[2J\n"
        "              because: the disk\n"
        "                       said no\n"
        "              hint: look\n"
        "  task      train (42): cancelled\n"
        "  task      save (43): failed, 1 try, 2 s after its deadline\n"
        "  task      and 17 more\n");
  const auto json = to_json(asked)["details"];
  CHECK(json["tasks"].size() == 3);
  CHECK(json["tasks"][0]["task"] == "41");
  CHECK(json["tasks"][0]["name"] == "load");
  CHECK(json["tasks"][0]["outcome"] == "failed");
  CHECK(json["tasks"][0]["tries"] == 3);
  CHECK(json["tasks"][0]["error"]["hint"] == "look");
  CHECK(json["tasks"][1]["error"].is_null());
  CHECK(json["tasks"][2]["late_seconds"] == 2.0);
  CHECK(json["tasks_beyond"] == 17);
  CHECK(json["late"] == 1);
  CHECK(json["classes"][0]["name"] == "load");
  CHECK(json["classes"][0]["counts"]["finished"] == 20);
  CHECK(json["others"]["skipped"] == 4);
  CHECK(to_json(job())["details"].is_null());
}

TEST_CASE("of a job it is said which nodes have its record, and that one alone is no more than one") {
  JobInfo kept = job();
  kept.copies = {ProcessId{0}, ProcessId{2}, ProcessId{3}};
  CHECK_THAT(job_text(kept), Catch::Contains("  replicas  n0, n2, n3\n"));
  kept.copies = {ProcessId{2}};
  CHECK_THAT(job_text(kept), Catch::Contains("  replicas  n2 only. The job is lost if n2 dies\n"));
}

TEST_CASE("a name cannot write to the terminal what it likes") {
  JobInfo bad = job();
  bad.name = "a\x1b[2Jb\n";
  CHECK(jobs_text({bad}).find('\x1b') == std::string::npos);
  CHECK(job_text(bad).find("a?[2Jb?") != std::string::npos);
}

TEST_CASE("JSON of a node says what is not known of it") {
  CHECK(
      json_line(to_json(node())) ==
      R"({"address":"127.0.0.1:4000","bulk_address":"127.0.0.1:4001","devices":[{"backlog_seconds":1.5,"busy_seconds":2.5,)"
      R"("kind":"cpu","lanes":8,"lanes_free":3,"memory_bytes":68719476736,"memory_free_bytes":18253611008}],)"
      R"("disk_full":false,"disk_stuck":false,"draining":false,"heard_seconds_ago":null,"http":"http://127.0.0.1:4002/","jobs":null,"life":"n1.9","node":"n1","not_ready":null,"pid":null,"round_trip_seconds":null,"sick":false,"state":"suspect","tasks_ready":12,"witness":false})"
      "\n");
  NodeInfo asked = node();
  asked.pid = 4710;
  CHECK(to_json(asked)["pid"] == 4710);
  CHECK(to_json(asked)["jobs"] == 0);
}

TEST_CASE("JSON of a job has every field, and no error where there is none") {
  const auto json = to_json(job());
  CHECK(json["job"] == "job2.7");
  CHECK(json["phase"] == "failed");
  CHECK(json["age_seconds"] == 75.0);
  CHECK(
      json["counts"] ==
      nlohmann::json{
          {"open", 1}, {"finished", 20}, {"failed", 3}, {"skipped", 4}, {"cancelled", 5}, {"tolerated", 0}});
  CHECK(json["workers"].size() == 3);
  CHECK(json["workers"][1] == nlohmann::json{{"process", "n2/w2"},
                                             {"life", "n2/w2.3"},
                                             {"node", "n2"},
                                             {"pid", 4712},
                                             {"up", false},
                                             {"end", "signal 11"}});
  CHECK(json["error"] == nlohmann::json{{"code", "process_crashed"},
                                        {"number", 213},
                                        {"what", "it crashed"},
                                        {"hint", "look"},
                                        {"cause", "signal 11"}});
  CHECK(to_json(JobInfo{})["error"].is_null());
}

TEST_CASE("a name that is no UTF-8 does not break the JSON") {
  JobInfo bad = job();
  bad.name = "a\xff";
  const auto back = nlohmann::json::parse(json_line(to_json(bad)));
  CHECK(back["name"] == "a\xEF\xBF\xBD");
}
