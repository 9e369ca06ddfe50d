#include "libdag/client/followed_log.hpp"

#include <algorithm>
#include <chrono>

#include "libdag/journal/journal.hpp"

namespace dag::detail {
namespace {

constexpr Duration connect_within = std::chrono::seconds(1), answers_within = std::chrono::seconds(5);
/// Between two attempts at a node that is silent.
constexpr Duration silent_for = std::chrono::seconds(2);

Instant now() { return {std::chrono::steady_clock::now().time_since_epoch()}; }

bool is_earlier(const LogLine& a, const LogLine& b) { return a.unix_ns < b.unix_ns; }

}  // namespace

/// A node that answers: the first one, or a node known from it.
Cluster& FollowedLog::any_node() {
  if (first_) return *first_;
  try {
    first_ = connect(address_, connect_within, answers_within);
  } catch (const Failure&) {
    for (const auto& [id, node] : nodes_) {
      try {
        first_ = connect(node.address, connect_within, answers_within);
        return *first_;
      } catch (const Failure&) {  // Another one may.
      }
    }
    throw;
  }
  return *first_;
}

bool FollowedLog::is_over() {
  try {
    const std::vector<JobInfo> jobs = any_node().jobs(job_);
    return !jobs.empty() && has_ended(jobs.front().phase);
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::job_unknown) throw;
    if (failure.error().code != ErrorCode::no_quorum) first_.reset();  // Another one may know more.
    return false;
  }
}

FollowedLog::News FollowedLog::look() {
  News news;
  try {
    learn_nodes(news);
  } catch (const Failure&) {
    first_.reset();
    learn_nodes(news);  // From another one, if there is one.
  }
  for (auto& [id, node] : nodes_) {
    if (!node.silent || node.again_at <= now()) look_at(id, node, news);
  }
  std::stable_sort(news.lines.begin(), news.lines.end(), is_earlier);
  return news;
}

/// Nodes that are gone are a gap, and stay known.
void FollowedLog::learn_nodes(News& news) {
  std::map<ProcessId, Node*> gone;
  for (auto& [id, node] : nodes_) gone[id] = &node;
  for (const NodeInfo& one : any_node().nodes()) {
    if (!is_up(one.state)) continue;
    gone.erase(one.life.process);
    Node& node = nodes_[one.life.process];
    if (node.life == one.life && node.address == one.endpoint.control) continue;
    node.life = one.life;
    node.address = one.endpoint.control;
    node.link.reset();
    node.keeps_none = false;
    node.again_at = {};
  }
  for (const auto& [id, node] : gone) {
    node->again_at = now() + silent_for;
    node->link.reset();
    if (!std::exchange(node->silent, true))
      news.lines.push_back(gap_line(0, to_string(id), "lines are missing: the node is down"));
  }
}

void FollowedLog::look_at(ProcessId id, Node& node, News& news) {
  if (node.keeps_none) return;
  const std::string name = to_string(id);
  std::string why;
  try {
    if (!node.link) node.link = connect(node.address, connect_within, answers_within);
    read_pages(name, node, news);
    node.silent = false;
    return;
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::interrupted) throw;
    why = failure.error().what;
    node.keeps_none = failure.error().code == ErrorCode::configuration_invalid;
    if (!node.keeps_none) node.link.reset();
  }
  node.again_at = now() + silent_for;
  if (!std::exchange(node.silent, true)) news.lines.push_back(gap_line(0, name, "lines are missing: " + why));
}

void FollowedLog::read_pages(const std::string& name, Node& node, News& news) {
  for (std::size_t pages = 0; pages < options_.pages_max; ++pages) {
    if (options_.stops()) throw Failure({ErrorCode::interrupted, "the log is not wanted any more"});
    const JournalPage page = node.link->journal({0, job_, node.read, true, options_.filter.tasks});
    if (!page.notices.empty() && page.notices != node.notices) {
      for (const std::string& notice : page.notices) news.lines.push_back(gap_line(0, name, notice));
    }
    if (!page.notices.empty()) node.notices = page.notices;
    if (page.read.file == 0) {
      if (!page.notices.empty()) node.read = {};  // The journal was started again, and is empty yet.
      return;
    }
    if (page.bytes) add_page(page, name, news);
    node.read = page.read;
  }
}

/// Adds a page's lines, and the gaps that the page names.
void FollowedLog::add_page(const JournalPage& page, const std::string& node, News& news) const {
  const std::size_t first = news.lines.size();
  const auto read = read_journal(page.bytes.bytes(), [&](const JournalEvent& record) {
    for (LogLine& line : lines_in({record.at.since_start.count(), {}, record})) {
      if (options_.filter.takes(line)) news.lines.push_back(std::move(line));
    }
  });
  if (!read) return news.lines.push_back(gap_line(0, node, read.error().what));
  std::int64_t last = 0;
  for (std::size_t i = first; i < news.lines.size(); ++i)
    last = news.lines[i].unix_ns += read->head.clock_began_unix_ns;
  if (read->dropped > 0)
    news.lines.push_back(gap_line(last, node, std::to_string(read->dropped) + " records were dropped"));
  if (news.lines.size() > options_.lines_max) keep_newest(news);
}

/// Gaps are kept in any case.
void FollowedLog::keep_newest(News& news) const {
  std::vector<LogLine>& lines = news.lines;
  const auto said =
      std::stable_partition(lines.begin(), lines.end(), [](const LogLine& line) { return line.gap; });
  std::stable_sort(said, lines.end(), is_earlier);
  const std::size_t all = static_cast<std::size_t>(lines.end() - said);
  const std::size_t beyond = all - std::min(all, options_.lines_max / 2);
  lines.erase(said, said + static_cast<std::ptrdiff_t>(beyond));
  news.older += beyond;
}

}  // namespace dag::detail
