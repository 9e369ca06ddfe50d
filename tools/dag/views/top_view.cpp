#include "tools/dag/views/top_view.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "libdag/client/node_lanes.hpp"
#include "tools/dag/views/print.hpp"

namespace dag::tool {
namespace {

using Cells = std::vector<std::string>;

std::string ended_fraction(const JobCounts& counts) {
  return std::to_string(ended(counts)) + "/" + std::to_string(ended(counts) + counts.open);
}

std::string title_of(const Seen& seen) {
  detail::NodeLanes all;
  std::uint64_t waiting = 0;
  for (const NodeInfo& node : seen.nodes) {
    all += detail::lanes_of(node);
    waiting += node.load.tasks_ready;
  }
  const auto running = std::count_if(seen.jobs.begin(), seen.jobs.end(),
                                     [](const JobInfo& job) { return !has_ended(job.phase); });
  return counted(seen.nodes.size(), "node") + ", " + counted(all.there, "lane") + ": " +
         std::to_string(all.running) + " busy, " + counted(waiting, "task") + " ready; " +
         counted(static_cast<std::uint64_t>(running), "job") + " not ended";
}

Cells row_of(const NodeInfo& node) {
  const detail::NodeLanes lanes = detail::lanes_of(node);
  std::string state = node_state_text(node);
  for (const std::string& why : node.not_ready) state += "; " + shown(why);
  std::uint64_t free_bytes = 0;
  for (const DeviceLoad& device : node.load.devices) free_bytes += device.memory_free_bytes;
  return {to_string(node.life.process), detail::busy_text(lanes), std::to_string(node.load.tasks_ready),
          std::to_string(node.jobs),    bytes_text(free_bytes),   std::move(state)};
}

Cells row_of(const JobInfo& job, const Pace& pace) {
  std::string per_second, left;
  if (!has_ended(job.phase)) {
    const auto tasks = pace.tasks_per_second();
    per_second = tasks ? rate_text(*tasks) + "/s" : "-";
    const auto until_end = pace.left(counts_of_whole(job).open);
    left = until_end ? text_of(*until_end) : "-";
  }
  return {to_string(job.job),
          ended_fraction(counts_of_whole(job)),
          std::to_string(job.counts.failed),
          per_second,
          left,
          phase_text(job.phase, job.counts) + " " + shown(job.name)};
}

Cells row_of(const ClassInfo& stage) {
  return {"", ended_fraction(stage.counts), std::to_string(stage.counts.failed), "",
          "", "  " + shown(stage.name)};
}

Cells row_of(const TaskProgress& said) {
  return {"", "", "",
          "", "", "  " + shown(said.name) + " (" + to_string(said.task) + "): " + progress_text(said)};
}

/// A candidate for a line, and its rank: 0 is the most important.
struct TopRow {
  Cells cells;
  int rank = 0;
};

std::vector<TopRow> rows_of(std::vector<JobInfo> jobs, const Paces& paces) {
  std::stable_sort(jobs.begin(), jobs.end(), is_listed_before);
  std::vector<TopRow> rows;
  for (const JobInfo& job : jobs) {
    const bool over = has_ended(job.phase);
    rows.push_back({row_of(job, paces.of(job.job)), over ? 2 : 0});
    if (over || !job.details) continue;
    for (const ClassInfo& stage : job.details->classes)
      rows.push_back({row_of(stage), stage.counts.open > 0 ? 1 : 3});
    for (const TaskProgress& said : job.details->progress) rows.push_back({row_of(said), 2});
  }
  return rows;
}

/// Removes the least important lines, the last ones first, until `room` are left. Returns how many jobs went.
std::size_t fit(std::vector<TopRow>& rows, std::size_t room) {
  std::size_t jobs_gone = 0;
  for (int rank = 3; rank >= 0; --rank) {
    for (std::size_t i = rows.size(); i-- > 0 && rows.size() > room;) {
      if (rows[i].rank != rank) continue;
      if (!rows[i].cells.front().empty()) ++jobs_gone;
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return jobs_gone;
}

void add_table(std::vector<std::string>& lines, const Cells& heads, const std::vector<Cells>& rows) {
  std::istringstream text(
      table(heads, rows, std::numeric_limits<std::size_t>::max()));  // Cut where it is drawn.
  for (std::string line; std::getline(text, line);) lines.push_back(line);
}

}  // namespace

void Paces::on_seen(const Seen& seen, Instant now) {
  std::map<JobId, Pace> paces;
  for (const JobInfo& job : seen.jobs) {
    Pace& pace = paces[job.job] = std::move(paces_[job.job]);
    pace.on_counts(job.counts, now);
  }
  paces_ = std::move(paces);
}

const Pace& Paces::of(JobId job) const {
  static const Pace unknown;
  const auto found = paces_.find(job);
  return found == paces_.end() ? unknown : found->second;
}

std::vector<std::string> top_lines(const Seen& seen, const Paces& paces, const Screen& screen) {
  const std::size_t columns = std::max(screen.columns, Screen::columns_min);
  const std::size_t lines_max = std::max<std::size_t>(screen.rows, 2) - 1;
  std::vector<std::string> lines{title_of(seen)};
  for (const std::string& what : seen.missing) lines.push_back("without " + what);
  for (const detail::NodeLink& link : seen.links) {
    if (link.in_trouble()) lines.push_back(link_text(link));
  }
  std::vector<Cells> nodes;
  for (const NodeInfo& node : seen.nodes) nodes.push_back(row_of(node));
  add_table(lines, {"NODE", "BUSY", "READY", "LEADS", "FREE", "STATE"}, nodes);
  std::vector<TopRow> rows = rows_of(seen.jobs, paces);
  if (!rows.empty()) {
    const std::size_t others = lines.size() + 1;  // And the heads of the columns.
    std::size_t room = lines_max - std::min(lines_max, others), gone = 0;
    if (rows.size() > room) gone = fit(rows, room - std::min<std::size_t>(room, 1));
    std::vector<Cells> jobs;
    for (TopRow& row : rows) jobs.push_back(std::move(row.cells));
    add_table(lines, {"JOB", "ENDED", "FAILED", "PACE", "LEFT", "NAME"}, jobs);
    if (gone > 0) lines.push_back("and " + counted(gone, "job") + " more: `dag ls`");
    const auto unasked = std::count_if(seen.jobs.begin(), seen.jobs.end(), [](const JobInfo& job) {
      return job.phase == JobPhase::running && !job.details;
    });
    if (unasked > 0 && rows.size() <= room)
      lines.push_back("without the stages of " + counted(static_cast<std::uint64_t>(unasked), "job") +
                      ": `dag show JOB`");
  }
  if (lines.size() > lines_max) {
    lines.resize(lines_max);
    lines.back() = "..";
  }
  for (std::string& line : lines) line = cut(line, columns);
  return lines;
}

nlohmann::json top_json(const Seen& seen, const Paces& paces) {
  auto nodes = nlohmann::json::array(), jobs = nlohmann::json::array(), links = nlohmann::json::array();
  for (const NodeInfo& node : seen.nodes) nodes.push_back(to_json(node));
  for (const detail::NodeLink& link : seen.links) links.push_back(to_json(link));
  for (const JobInfo& job : seen.jobs) jobs.push_back(progress_json(job, paces.of(job.job)));
  return {{"nodes", std::move(nodes)},
          {"jobs", std::move(jobs)},
          {"missing", seen.missing},
          {"links", std::move(links)},
          {"links_beyond", seen.links_beyond}};
}

}  // namespace dag::tool
