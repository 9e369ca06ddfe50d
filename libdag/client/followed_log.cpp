#include "libdag/client/followed_log.hpp"

#include <algorithm>
#include <chrono>

#include "libdag/record/journal.hpp"

namespace dag::detail {
namespace {

constexpr Duration connect_within = std::chrono::seconds(1), answers_within = std::chrono::seconds(2);

/// What a page has, and what it says is missing in it.
void add_page(const JournalPage& page, const std::string& node, std::vector<LogLine>& lines) {
  std::vector<Record> records;
  const auto read =
      read_journal(page.bytes.bytes(), [&](const Record& record) { records.push_back(record); });
  if (!read) return lines.push_back(gap_line(0, node, read.error().what));
  std::int64_t last_unix_ns = 0;
  for (Record& record : records) {
    last_unix_ns = read->head.clock_began_unix_ns + record.at.since_start.count();
    for (LogLine& line : lines_in({last_unix_ns, read->head.process, std::move(record)}))
      lines.push_back(std::move(line));
  }
  if (read->dropped > 0)
    lines.push_back(gap_line(last_unix_ns, node, std::to_string(read->dropped) + " records were dropped"));
}

/// Or nobody knows it any more.
bool is_over(Cluster& cluster, JobId job) {
  try {
    const std::vector<JobInfo> jobs = cluster.jobs(job);
    if (jobs.empty()) return true;
    const JobPhase phase = jobs.front().phase;
    return phase == JobPhase::finished || phase == JobPhase::failed || phase == JobPhase::cancelled;
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::job_unknown) throw;
    return true;
  }
}

bool is_earlier(const LogLine& a, const LogLine& b) { return a.unix_ns < b.unix_ns; }

void keep_newest(std::vector<LogLine>& lines) {
  std::stable_sort(lines.begin(), lines.end(), is_earlier);
  const std::size_t beyond = lines.size() - FollowedLog::lines_max / 2;
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(beyond));
  lines.insert(lines.begin(), gap_line(0, "", std::to_string(beyond) + " older lines are left out"));
}

}  // namespace

/// One that answers: the first one, or one that was known.
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

FollowedLog::News FollowedLog::look() {
  News news;
  try {
    Cluster& any = any_node();
    for (const NodeInfo& one : any.nodes()) {
      Node& node = nodes_[one.life.process];
      if (is_up(one.state)) node.address = one.endpoint.control;
    }
    news.over = is_over(any, job_);
  } catch (const Failure&) {
    first_.reset();
    throw;
  }
  for (auto& [id, node] : nodes_) {
    look_at(id, node, news.lines);
    if (news.lines.size() > lines_max) keep_newest(news.lines);
  }
  std::stable_sort(news.lines.begin(), news.lines.end(), is_earlier);
  return news;
}

void FollowedLog::look_at(ProcessId id, Node& node, std::vector<LogLine>& lines) {
  const std::string name = to_string(id);
  try {
    if (!node.link) node.link = connect(node.address, connect_within, answers_within);
    for (;;) {
      const JournalPage page = node.link->journal(job_, node.read, true);
      for (const std::string& notice : page.notices) lines.push_back(gap_line(0, name, notice));
      if (page.read.file == 0) break;
      node.read = page.read;
      if (page.bytes) add_page(page, name, lines);
    }
    node.silent = false;
  } catch (const Failure& failure) {
    node.link.reset();
    if (std::exchange(node.silent, true)) return;
    lines.push_back(gap_line(0, name, "without its part: " + failure.error().what));
  }
}

}  // namespace dag::detail
