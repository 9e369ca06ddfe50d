// G15: what nodes need that have nothing to do.

#include <unistd.h>

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

/// `durable`: each keeps its jobs on a disk, as `dag up --data` makes them.
Row idle_nodes(Settings& settings, const std::string& name, bool durable, double seconds) {
  const Cluster cluster(3, 3, durable);
  const auto pause = [](double length) {
    std::this_thread::sleep_for(std::chrono::duration<double>(length));
  };
  pause(settings.quick ? 0.1 : 2);  // They have met by then.
  Row row{name, "% of a core", {{std::string(libdag), {}}}};
  for (int repetition = 1; repetition <= settings.repetitions; ++repetition) {
    settings.say(name + ", repetition " + std::to_string(repetition) + " of " +
                 std::to_string(settings.repetitions));
    const double before = computed_seconds(cluster);
    pause(seconds);
    row.series[0].values.push_back((computed_seconds(cluster) - before) / seconds * 100);
  }
  return row;
}

}  // namespace

Section idle(Settings& settings) {
  const double seconds = settings.quick ? 0.5 : 10;
  std::ostringstream length;
  length << seconds;
  Section section{
      "idle", "Three nodes of `dag up`, nothing submitted: processor time of all of them together, over " +
                  length.str() + " s at a time, in percent of one core."};
  section.rows.push_back(idle_nodes(settings, "three idle nodes", false, seconds));
  section.rows.push_back(idle_nodes(settings, "three idle nodes with --data", true, seconds));
  for (const Row& row : section.rows)
    section.verdicts.push_back({"G15", row.workload, "< 1 % of a core", 1, row.series[0].median()});
  return section;
}

}  // namespace dag::bench
