#pragma once
// JSON of nodes, jobs and tasks, for programs: the text of `--json` and of the nodes' HTTP pages. They share
// a schema: fields are added, never renamed.
//
// Ids are text, as everywhere. Spans are seconds; what ends in _unix_ns counts from 1970.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "libdag/client/all_nodes.hpp"
#include "libdag/client/explain.hpp"
#include "libdag/client/held.hpp"
#include "libdag/story/history.hpp"
#include "libdag/story/journal_view.hpp"
#include "libdag/story/logs.hpp"
#include "libdag/story/past_graph.hpp"
#include "libdag/story/past_tasks.hpp"
#include "libdag/story/report.hpp"
#include "libdag/story/timeline.hpp"

namespace dag::detail {

nlohmann::json to_json(const Error& error);
nlohmann::json to_json(const NodeInfo& node);
nlohmann::json to_json(const NodeLink& link);
nlohmann::json to_json(const JobCounts& counts);
nlohmann::json to_json(const JobInfo& job);
/// Without its job.
nlohmann::json to_json(const Explanation& found);
nlohmann::json to_json(const PastTask& task, JobId job);
nlohmann::json to_json(const JournalLine& line);
nlohmann::json to_json(const LogLine& line, JobId job);
nlohmann::json to_json(const JobHeld& held);
nlohmann::json to_json(const PastJob& job);
nlohmann::json to_json(const JobReport& report, JobId job);
nlohmann::json to_json(const Timeline& timeline, JobId job);
nlohmann::json to_json(const PastGraph& graph, const GraphPicture& picture, JobId job);
/// A line of a list of jobs.
nlohmann::json row_json(const JobInfo& job, ProcessId leader);

/// JSON on a single line. Bytes that are no UTF-8 are replaced, since a name may contain any byte.
std::string json_line(const nlohmann::json& json);
/// Indented JSON, over several lines.
std::string json_text(const nlohmann::json& json);

/// n1/w1; n1/- for a process that has not come up and so has no id.
std::string process_text(const WorkerInfo& worker);
std::size_t processes_up(const JobInfo& job);
std::string_view name(RowState state);
std::string_view name(Priority priority);
/// In UTC, since journals of several machines lie side by side: 2026-11-25T07:30:12.000123Z.
std::string utc_text(std::int64_t unix_ns);

}  // namespace dag::detail
