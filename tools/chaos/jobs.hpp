#pragma once
// Random jobs, one after the other: starts each client, reads its lines, and checks the results and the
// tasks' ledger. node_faults.hpp and partitions.hpp disturb the nodes meanwhile.

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/chaos/cluster.hpp"
#include "tools/chaos/oracle.hpp"

namespace dag::chaos {

struct Options {
  std::uint32_t cycles = 0;
  std::uint64_t seed = 1;
  std::uint32_t tasks = 0;
  std::string directory;
  /// How long a process is stopped: as likely in each decade between.
  double shortest_ms = 1, longest_ms = 30'000;
  std::string of = "nodes";  ///< the stopped processes: `nodes` or `processes` of jobs
  bool json = false;
};

double in_milliseconds(Clock::duration duration);
/// Adds the spread under `name`, if there are any values.
void report_spread(nlohmann::json& report, const std::string& name, std::vector<double> values);

class Jobs {
 public:
  Jobs(std::filesystem::path directory, std::filesystem::path programs, std::uint32_t tasks)
      : directory_(std::move(directory)), programs_(std::move(programs)), tasks_(tasks) {}

  /// Submits at the node with this address. The job is accepted on return, unless something is wrong.
  void begin(std::uint64_t seed, const std::string& address);
  bool running() const { return job_ != nullptr; }
  /// The job's number in the cluster.
  const std::string& number() const { return job_->said.job; }
  /// Tasks without an outcome that we heard of.
  std::size_t left() const {
    return job_->plan.size() - job_->said.settled.size() - job_->said.without.size();
  }
  /// The longest time without an outcome since then, until now.
  Clock::duration longest_pause(Clock::time_point since) const;
  /// True: the job had an outcome a moment ago.
  bool getting_on() const;
  /// All tasks left may wait until the leases of the dead are over, which measures nothing else.
  bool rest_may_wait_for_leases() const;
  /// Reads the client's lines for so long.
  void look_for(Clock::duration limit);
  /// Waits until the running job has ended, or something is wrong.
  void finish();

  /// Reports the time from then to the job's next outcome under this name.
  void time_next_outcome(const std::string& name, Clock::time_point since);
  bool waits_for_outcome() const { return running() && !waits_.empty(); }
  /// The job has had no outcome since then.
  bool waits_since(Clock::time_point then) const;
  void wait_no_more() { waits_.clear(); }

  /// Processes are stopped for a while: then an exclusive task may be overtaken by another run of it.
  void processes_are_stopped() { stopped_ = true; }

  void wrong(const std::string& what) { wrong_.push_back(what); }
  std::uint64_t begun() const { return jobs_; }
  bool broken() const { return !wrong_.empty(); }
  void report(nlohmann::json& report) const;

 private:
  struct Job {
    std::uint64_t seed = 0;
    std::vector<TaskPlan> plan;
    std::filesystem::path ledger, err;
    std::unique_ptr<Program> client;
    std::unique_ptr<Lines> lines;
    Said said;
    Clock::time_point moved;  ///< when something was last heard of it
  };
  struct Wait {
    std::string name;
    Clock::time_point since;
  };

  void look();
  void note_outcomes();
  void end();

  const std::filesystem::path directory_, programs_;
  const std::uint32_t tasks_;
  std::unique_ptr<Job> job_;
  std::deque<Wait> waits_;
  bool stopped_ = false;
  std::uint64_t jobs_ = 0, results_ = 0, unknown_ = 0, overtaken_ = 0, refused_ = 0;
  std::map<std::string, std::vector<double>> next_outcome_;
  nlohmann::json slow_ = nlohmann::json::array();
  std::vector<std::string> wrong_;
};

}  // namespace dag::chaos
