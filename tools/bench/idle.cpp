// G15: what nodes need that have nothing to do. Almost all of it is waking up, and what that costs is the
// machine's: a virtual one may come to ask ten times as much after a minute in which it had little to do. So
// threads that wake as often, and do nothing else, are measured beside them.

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tools/bench/cluster.hpp"
#include "tools/bench/commands.hpp"

namespace dag::bench {
namespace {

/// Time that a process has computed, in seconds: fields 14 and 15 of its line, counted behind the name in
/// brackets.
double computed_seconds(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) throw std::runtime_error("a node has ended");
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double computed_seconds(const Cluster& cluster) {
  double sum = 0;
  for (const pid_t process : cluster.processes()) sum += computed_seconds(process);
  return sum;
}

/// How often its threads have waited for something that came, since they began.
double waits(pid_t process) {
  constexpr std::string_view label = "voluntary_ctxt_switches:";
  double sum = 0;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    std::ifstream file(thread.path() / "status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(label)) sum += std::stod(line.substr(label.size()));
    }
  }
  return sum;
}

double waits(const Cluster& cluster) {
  double sum = 0;
  for (const pid_t process : cluster.processes()) sum += waits(process);
  return sum;
}

void pause(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// CPU time of this process, in seconds.
double computed_here() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Processor time of two threads that wake so often together: one by the clock, which then wakes the other.
double bare_wakes(double count, double seconds) {
  const int bell = eventfd(0, 0);
  if (bell < 0) throw std::runtime_error("no eventfd");
  const auto rounds = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(count / 2));
  const double before = computed_here();
  std::thread woken([&] {
    eventfd_t rung = 0;
    for (std::uint64_t heard = 0; heard < rounds; heard += rung) eventfd_read(bell, &rung);
  });
  for (std::uint64_t round = 0; round < rounds; ++round) {
    pause(seconds / static_cast<double>(rounds));
    eventfd_write(bell, 1);
  }
  woken.join();
  close(bell);
  return computed_here() - before;
}

/// `durable`: each keeps its jobs on a disk, as `dag up --data` makes them.
Row idle_nodes(Settings& settings, const std::string& name, bool durable, double seconds) {
  const Cluster cluster(3, 3, durable);
  pause(settings.quick ? 0.1 : 2);  // The nodes have met by then.
  Row row{name, "% of a core", {{std::string(libdag), {}}, {std::string(floor_runner), {}}}};
  for (int repetition = 1; repetition <= settings.repetitions; ++repetition) {
    settings.say(name + ", repetition " + std::to_string(repetition) + " of " +
                 std::to_string(settings.repetitions));
    const double before = computed_seconds(cluster), waited_before = waits(cluster);
    pause(seconds);
    row.series[0].values.push_back((computed_seconds(cluster) - before) / seconds * 100);
    const double waited = waits(cluster) - waited_before;
    settings.say(std::to_string(static_cast<int>(waited / seconds)) + " waits that ended, per second");
    row.series[1].values.push_back(bare_wakes(waited, seconds) / seconds * 100);
  }
  return row;
}

}  // namespace

Section idle(Settings& settings) {
  const double seconds = settings.quick ? 0.5 : 10;
  std::ostringstream length;
  length << seconds;
  Section section{
      "idle",
      "Three nodes of `dag up`, nothing submitted: processor time of all of them together, over " +
          length.str() +
          " s at a time, in percent of one core. `floor` are two threads that wake as often, and do nothing "
          "else, in the seconds behind that."};
  section.rows.push_back(idle_nodes(settings, "three idle nodes", false, seconds));
  section.rows.push_back(idle_nodes(settings, "three idle nodes with --data", true, seconds));
  for (const Row& row : section.rows)
    section.verdicts.push_back({"G15", row.workload, "< 1 % of a core", 1, row.series[0].median()});
  return section;
}

}  // namespace dag::bench
