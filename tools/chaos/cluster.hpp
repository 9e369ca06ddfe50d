#pragma once
// Some dagd on loopback, or on a network of their own, that keep jobs on the disk, to be killed, paused and
// started again; and programs beside them.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libdag/client/cluster.hpp"
#include "tools/chaos/network.hpp"

namespace dag::chaos {

using Clock = std::chrono::steady_clock;

/// Its stdout and stderr go to files; it dies with us.
class Program {
 public:
  /// `space`: the network namespace it runs in, as a file; negative: ours.
  Program(const std::vector<std::string>& words, const std::filesystem::path& out,
          const std::filesystem::path& err, int space = -1);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  void signal(int number) const;
  /// Its exit status, or 128 + the signal that ended it; nothing: it runs.
  std::optional<int> ended();
  /// Waits until it has ended; returns its status.
  int wait();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  std::optional<int> status_;
};

/// Whole lines of a file that grows.
class Lines {
 public:
  explicit Lines(std::filesystem::path file) : file_(std::move(file)) {}
  std::vector<std::string> more();

 private:
  const std::filesystem::path file_;
  std::streamoff at_ = 0;
};

inline constexpr std::uint32_t node_count = 5;

struct ClusterOptions {
  std::uint32_t nodes = node_count;
  /// Writes that a node has not synced are lost with its process, as with a machine's power.
  std::optional<std::uint64_t> power_seed;
  /// The journals have the runs of lanes.
  bool journal_runs = false;
  /// Each node on a host of its own there; else all on loopback.
  const Network* network = nullptr;
};

class Cluster {
 public:
  Cluster(std::filesystem::path directory, std::filesystem::path programs, const ClusterOptions& options);

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  const std::string& address(std::uint32_t node) const { return nodes_[node].address; }
  bool runs(std::uint32_t node);
  void start(std::uint32_t node);
  /// Starts the nodes that have ended; returns their number.
  std::uint32_t start_ended();
  void signal(std::uint32_t node, int number);
  /// Kills the node, and returns when it has ended.
  void kill(std::uint32_t node);
  /// Kills all nodes at once.
  void kill_all();
  /// Stops all nodes at once; they may finish.
  void stop_all();
  std::vector<std::string> data_directories() const;
  /// The processes that a node runs for this job, by pid; without those that may still be starting, which
  /// need not report yet.
  std::vector<pid_t> workers(std::uint32_t node, const std::string& job);
  /// A running node that leads a job; nothing: none says so.
  std::optional<std::uint32_t> leader();
  /// A node's view of the job with this number; nothing: it neither leads it nor misses a majority.
  std::optional<JobInfo> job_at(std::uint32_t node, const std::string& number);
  /// Waits until all running nodes report each other as present.
  bool gather(Clock::duration limit);
  /// Lines of the node's log since the last call.
  std::vector<std::string> more_said(std::uint32_t node);
  /// Running nodes whose logs report this node as present: a node that has just come may not know of it, and
  /// cannot miss it.
  std::vector<std::uint32_t> who_know(std::uint32_t node);
  /// The time until the log of each of those reported this node as gone; nothing: not within the limit.
  std::optional<Clock::duration> noticed(std::uint32_t gone, std::vector<std::uint32_t> by,
                                         Clock::time_point since, Clock::duration limit);

 private:
  struct Node {
    std::string address;
    std::filesystem::path log, data;
    std::unique_ptr<Program> program;
    std::unique_ptr<Lines> said;
    std::vector<std::string> unheard;  ///< lines that were read, and that more_said() has not given yet
    std::set<std::string> knows;       ///< by its log since its start, as "n3"
  };
  void read_log(std::uint32_t node);
  std::size_t seen_by(std::uint32_t node);

  const std::filesystem::path directory_, programs_;
  std::optional<std::uint64_t> power_seed_;  ///< of the next start
  const bool journal_runs_;
  const Network* const network_;
  std::vector<Node> nodes_;
};

}  // namespace dag::chaos
