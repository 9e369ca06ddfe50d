#pragma once
// Faults of nodes' processes: they are killed, stopped for a while, or all lose their power. Or other
// programs want the processors, too: then no process may be taken for dead.

#include <random>

#include "tools/chaos/jobs.hpp"

namespace dag::chaos {

enum class Fault : std::uint8_t { kill, pause, powerfail, busy };

class NodeFaults {
 public:
  /// Throws when the nodes do not find each other.
  NodeFaults(const Options& options, Fault fault, const std::filesystem::path& directory,
             const std::filesystem::path& programs);

  /// Makes a fault, and waits until the running job goes on.
  void cycle();
  Jobs& jobs() { return jobs_; }
  nlohmann::json report() const;

 private:
  void begin_job();
  void kill();
  void pause();
  void pause_process();
  void look_for_end_of(pid_t frozen, Clock::time_point since);
  void look_for_healthy(const std::vector<pid_t>& others, const std::string& job);
  Clock::duration pause_length();
  void fail_power();
  void look_on();
  void look_for_false_alarms();
  void time_notice(std::uint32_t victim, std::vector<std::uint32_t> observers, Clock::time_point since);
  Clock::duration noticed_within() const;
  std::vector<std::uint32_t> choose(bool several);
  std::uint64_t below(std::uint64_t bound);
  void rest(std::uint64_t from_ms, std::uint64_t to_ms);

  const Options options_;
  const Fault fault_;
  std::mt19937_64 random_;
  const std::unique_ptr<Network> network_;  ///< none: all on loopback, where nodes are given more time
  Cluster cluster_;
  Jobs jobs_;
  std::uint64_t cycles_ = 0, aimed_ = 0, ended_themselves_ = 0, unnoticed_ = 0;
  std::map<std::size_t, std::uint64_t> disturbed_;  ///< cycles by victims
  bool leader_hit_ = false;
  std::vector<double> detected_;
  std::uint64_t stopped_for_good_ = 0, stopped_for_a_while_ = 0;
  std::vector<std::unique_ptr<Program>> busy_loops_;
  std::uint64_t led_ = 0;   ///< how often a node logged that it came to lead a job
  std::uint64_t sick_ = 0;  ///< ... that it is late in its work
};

}  // namespace dag::chaos
