// In a cluster: chains of tasks that last, from the beginning of the first one until the client has the last
// one's result, which it has only when that is settled. With `rounds` so many of these graphs one after the
// other, in one session; with `marks` one more task behind each so many of a chain, whose end the client
// hears of when it is settled, which is as far behind as the record is.

#include "tools/bench/peers/clock.hpp"
#include "tools/bench/peers/libdag.hpp"

namespace dag::bench {
namespace {

constexpr std::uint64_t chains = 24;

std::int64_t begin() { return now_ns(); }

std::int64_t mark(std::int64_t) { return now_ns(); }

/// When the first one began, on and on.
std::int64_t step(std::int64_t begun_ns, std::int64_t lasts_ns) {
  busy_until(now_ns() + lasts_ns);
  return begun_ns;
}

std::vector<std::int64_t> end(std::vector<std::int64_t> begun_ns) {
  return {*std::min_element(begun_ns.begin(), begun_ns.end()), now_ns()};
}

}  // namespace

Figures libdag_settle(const Request& request) {
  std::string program = request.program, flag = "--address", address = request.text("address");
  std::vector<char*> words = {program.data(), flag.data(), address.data(), nullptr};
  int count = 3;
  Session session(count, words.data());
  const std::uint64_t length = std::max<std::uint64_t>(1, request.number("tasks", 24'000) / chains);
  const auto lasts_ns = static_cast<std::int64_t>(request.number("microseconds", 100) * 1000);
  const std::uint64_t marks_each = request.number("marks", 0), rounds = request.number("rounds", 1);
  std::vector<double> settled_after;
  Figures figures;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    Graph graph("settle");
    std::vector<Output<std::int64_t>> ends, marks;
    for (std::uint64_t chain = 0; chain < chains; ++chain) {
      Output<std::int64_t> last = graph.task("begin", begin);
      for (std::uint64_t i = 0; i < length; ++i) {
        last = graph.task("step", step, last, lasts_ns);
        if (marks_each != 0 && i % marks_each == 0) marks.push_back(graph.task("mark", mark, last));
      }
      ends.push_back(last);
    }
    const auto last = graph.task("end", end, ends);
    const Job job = session.submit(graph);
    // The end times are fetched after all have settled: else a settled task would wait while another one is
    // fetched.
    std::vector<std::pair<Output<std::int64_t>, std::int64_t>> heard_ns;
    for (const auto& one : session.as_completed(marks)) heard_ns.emplace_back(one, now_ns());
    std::int64_t unsettled_max_ns = 0;
    for (const auto& [one, at_ns] : heard_ns)
      unsettled_max_ns = std::max(unsettled_max_ns, at_ns - job.get(one));
    const std::vector<std::int64_t> times_ns = job.get(last);
    const std::int64_t settled_ns = now_ns();
    figures.numbers["tasks_per_second"] =
        static_cast<double>(chains * length) / (static_cast<double>(settled_ns - times_ns.at(0)) * 1e-9);
    figures.numbers["unsettled_max"] = static_cast<double>(unsettled_max_ns) * 1e-9;
    settled_after.push_back(static_cast<double>(settled_ns - times_ns.at(1)) * 1e-9);
  }
  // The first graph has the job's processes started.
  if (rounds > 1) settled_after.erase(settled_after.begin());
  std::sort(settled_after.begin(), settled_after.end());
  figures.numbers["settled_after"] = settled_after[settled_after.size() / 2];
  figures.numbers["settled_after_p99"] = settled_after[settled_after.size() * 99 / 100];
  figures.numbers["settled_after_max"] = settled_after.back();
  return figures;
}

}  // namespace dag::bench
