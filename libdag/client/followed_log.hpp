#pragma once
// The log of a job while it is written: what nodes have of it that they had not a moment ago.

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
  LogFilter filter = {};  ///< what it does not take stays where it is
  /// Of one look at most so many lines are kept, the newest ones; gaps beside them.
  std::size_t lines_max = 1'000'000;
  /// Of one look and node; the others come with the next look. A page is a part of a file of a journal.
  std::size_t pages_max = ~std::size_t{0};
  /// Asked between two pages: nothing more is wanted.
  std::function<bool()> stops = [] { return false; };
};

/// At all nodes of a cluster that have a journal.
class FollowedLog {
 public:
  FollowedLog(std::string address, JobId job, FollowOptions options = {})
      : address_(std::move(address)), job_(job), options_(std::move(options)) {}

  struct News {
    std::vector<LogLine> lines;  ///< by time, of what came in this look
    std::uint64_t older = 0;     ///< that are not among them, since they are too many
  };
  /// What nodes have that they had not at the last look. A node that is not there is a gap once, and what it
  /// has comes when it is there again. Throws Failure: as connect() when no node answers; interrupted when it
  /// stops.
  News look();
  /// Whether the job has ended. False: also where nobody leads it. Throws Failure(job_unknown).
  bool is_over();

 private:
  struct Node {
    Life life;
    std::string address;
    std::unique_ptr<Cluster> link;
    JournalPlace read;
    bool keeps_none = false;           ///< that life has no journal
    bool silent = false;               ///< which was said
    Instant again_at;                  ///< one that is silent is asked again then
    std::vector<std::string> notices;  ///< that were said last
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
