#pragma once
// The log of a job while it is written: what nodes have of it that they had not a moment ago.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libdag/client/cluster.hpp"
#include "libdag/client/logs.hpp"

namespace dag::detail {

/// Follows the log of a job at all nodes of a cluster that have a journal.
class FollowedLog {
 public:
  FollowedLog(std::string address, JobId job) : address_(std::move(address)), job_(job) {}

  struct News {
    std::vector<LogLine> lines;  ///< by time, of what came in this look
    bool over = false;           ///< the job has ended, or nobody knows it
  };
  /// Of one look; of more, the newest half, and a gap that says so.
  static constexpr std::size_t lines_max = 1'000'000;

  /// What nodes have that they had not at the last look. A node that does not answer is a gap once, and what
  /// it has comes when it answers again. Throws Failure: as connect() when no node answers.
  News look();

 private:
  struct Node {
    std::string address;
    std::unique_ptr<Cluster> link;
    JournalPlace read;
    bool silent = false;
  };

  Cluster& any_node();
  void look_at(ProcessId id, Node& node, std::vector<LogLine>& lines);

  const std::string address_;
  const JobId job_;
  std::map<ProcessId, Node> nodes_;
  std::unique_ptr<Cluster> first_;
};

}  // namespace dag::detail
