#pragma once
// The log of a job while it is written: each look gives the lines that nodes have written since the last.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libdag/client/cluster.hpp"
#include "libdag/story/logs.hpp"

namespace dag::detail {

struct FollowOptions {
  LogFilter filter = {};  ///< lines that it refuses are not sent
  /// Limit of lines per look: the newest are kept, and all gaps.
  std::size_t lines_max = 1'000'000;
  /// Limit of pages per look and node; the rest comes with the next look. A page is a part of a journal file.
  std::size_t pages_max = ~std::size_t{0};
  /// Asked between two pages; true ends the look.
  std::function<bool()> stops = [] { return false; };
};

/// Follows all nodes of a cluster that have a journal.
class FollowedLog {
 public:
  FollowedLog(std::string address, JobId job, FollowOptions options = {})
      : address_(std::move(address)), job_(job), options_(std::move(options)) {}

  struct News {
    std::vector<LogLine> lines;  ///< lines of this look, by time
    std::uint64_t older = 0;     ///< lines that were dropped, since there were too many
  };
  /// Lines that nodes have written since the last look. A node that does not answer is reported as a gap
  /// once, and its lines come when it is back. Throws Failure: as connect() when no node answers; interrupted
  /// when `stops` is true.
  News look();
  /// True: the job has ended. False also when nobody leads the job. Throws Failure(job_unknown).
  bool is_over();

 private:
  struct Node {
    Life life;
    std::string address;
    std::unique_ptr<Cluster> link;
    JournalPlace read;
    bool keeps_none = false;           ///< the node's life has no journal
    bool silent = false;               ///< and the silence was reported
    Instant again_at;                  ///< next question to a silent node
    std::vector<std::string> notices;  ///< reported at the last look
  };

  Cluster& any_node();
  void learn_nodes(News& news);
  void look_at(ProcessId id, Node& node, News& news);
  void read_pages(const std::string& name, Node& node, News& news);
  void add_page(const JournalPage& page, const std::string& node, News& news) const;
  void keep_newest(News& news) const;

  const std::string address_;
  const JobId job_;
  const FollowOptions options_;
  std::map<ProcessId, Node> nodes_;
  std::unique_ptr<Cluster> first_;
};

}  // namespace dag::detail
