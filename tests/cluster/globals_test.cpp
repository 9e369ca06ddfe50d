// `--dag-check` finds what does not travel with a kernel.

#include <catch2/catch.hpp>

#include "tests/cluster/processes.hpp"

using cluster::bin;
using cluster::Process;

namespace {

struct Checked {
  int status = 0;
  std::string out, err;
};

Checked checked(std::vector<std::string> words) {
  words.insert(words.begin(), bin("cluster_globals"));
  words.push_back("--dag-check");  // Behind what the job reads before its Session takes it away.
  Process job(words);
  const auto status = job.ends();
  return {status.value_or(-1), job.out(), job.err()};
}

std::size_t times(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("a job whose kernels need nothing of main but their arguments passes the check") {
  const Checked job = checked({"before"});
  CHECK(job.status == 0);
  CHECK(job.out == "21\n");
  CHECK_THAT(job.err, Catch::Contains("--dag-check: 3 tasks give the same in a process of their own\n"));
  CHECK(times(job.err, "heard") == 1);  // Out of three runs.
}

TEST_CASE(
    "a kernel that reads a global which main set behind its Session is found, and those behind it not") {
  const Checked job = checked({"behind"});
  CHECK(job.status == 1);
  CHECK_THAT(job.err, Catch::Contains("not_reproducible (208): 'scaled' (task 1) gives another value in a "
                                      "process of its own than here") &&
                          Catch::Contains("set it before the Session") && !Catch::Contains("'last'"));
}

TEST_CASE("a kernel that fails only in a process of its own is found, with why") {
  const Checked job = checked({"behind", "needed"});
  CHECK(job.status == 1);
  CHECK_THAT(job.err, Catch::Contains("scaled here: finished") && Catch::Contains("no scale"));
}

TEST_CASE("a kernel that gives another value each time is not taken for one that uses globals of main") {
  const Checked job = checked({"counted"});
  CHECK(job.status == 0);
  CHECK_THAT(job.err, Catch::Contains("3 tasks give the same") &&
                          Catch::Contains("1 task gives another value each time"));
}
