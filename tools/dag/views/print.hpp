#pragma once
// Nodes and jobs as text for people. Text to text; nothing is printed here. libdag/client/json.hpp has the
// forms for programs.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libdag/client/json.hpp"
#include "tools/dag/views/terminal.hpp"

namespace dag::tool {

using detail::json_line;
using detail::process_text;
using detail::processes_up;
using detail::to_json;

/// Columns of UTF-8 text on a terminal, where each letter takes one column.
std::size_t width(const std::string& text);

/// The first letters, and two dots behind them, where the text is wider than that.
std::string cut(const std::string& text, std::size_t columns);

/// Columns as wide as their widest entry, two spaces between; no space at the end of a line. A table that is
/// wider than so many columns becomes a few lines per row, each a head and its entry, an empty line between
/// rows.
std::string table(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows,
                  std::size_t columns = columns_of_stdout());

/// 512 B, 8.0 GiB.
std::string bytes_text(std::uint64_t bytes);

/// 1 task, 2 tasks.
std::string counted(std::uint64_t count, const std::string& one, const std::string& many);
inline std::string counted(std::uint64_t count, const std::string& one) {
  return counted(count, one, one + "s");
}

/// Tasks that have ended, well or not.
std::uint64_t ended(const JobCounts& counts);

/// `alive`, or `alive, draining`, or `alive, witness`.
std::string node_state_text(const NodeInfo& node);
/// A line each.
std::string nodes_text(const std::vector<NodeInfo>& nodes);
std::string node_text(const NodeInfo& node);
std::string link_text(const detail::NodeLink& link);
/// From journals.
/// How the job ended, its duration, and its tasks' outcomes; an empty line behind.
std::string summary_text(const detail::PastJob& job);
std::string history_text(const std::vector<detail::PastJob>& jobs);
std::string jobs_text(const std::vector<JobInfo>& jobs);
/// 1st, 2nd, 11th.
std::string ordinal(std::uint64_t number);
/// "45 %, attempt 2, loss 0.5"
std::string progress_text(const TaskProgress& progress);
std::string job_text(const JobInfo& job);

}  // namespace dag::tool
