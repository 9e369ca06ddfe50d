#include "tools/dag/commands/explain_node.hpp"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>

#include "libdag/client/all_nodes.hpp"
#include "libdag/client/exit_status.hpp"
#include "tools/dag/views/print.hpp"
#include "tools/dag/views/progress.hpp"

namespace dag::tool {
namespace {

constexpr std::size_t lines_shown = 20;

struct RunsThere {
  JobId job;
  std::string process;
  RunningNow now;
  std::string name;  ///< the task's, if a process reported it
};
struct Kept {
  JobId job;
  TaskId task;
  std::string name, why;
};
/// The node's running tasks, and the ready or waiting tasks that cannot go there.
struct BusyWith {
  std::vector<RunsThere> running;
  std::vector<Kept> kept;
  std::vector<std::string> notes;  ///< of processes for whose lanes tasks wait, or that do not answer
};

void add(BusyWith& to, ProcessId node, JobId job, const client::Answer& said) {
  std::map<TaskId, std::string> names;
  for (const ProcessExplained& process : said.explained) {
    for (const TaskExplained& task : process.tasks) {
      names[task.task] = task.name;
      for (const event::Candidate& candidate : task.candidates) {
        if (node_of(candidate.process) == node && !candidate.misfit.empty())
          to.kept.push_back({job, task.task, task.name, candidate.misfit});
      }
    }
  }
  for (const ProcessExplained& process : said.explained) {
    if (node_of(process.life.process) != node) continue;
    const std::string name = to_string(process.life.process);
    for (const RunningNow& now : process.running)
      to.running.push_back({job, name, now, now.name.empty() ? names[now.task] : now.name});
    if (process.queued > 0)
      to.notes.push_back(to_string(job) + ": " + counted(process.queued, "task") + " queued for the " +
                         counted(process.lanes, "lane") + " of " + name);
  }
  for (const Life silent : said.silent) {
    if (node_of(silent.process) == node)
      to.notes.push_back(
          to_string(job) + ": " + to_string(silent.process) +
          " has not answered: the process is stopped or overloaded. Its tasks are missing here");
  }
}

std::string busy_text(const BusyWith& busy) {
  std::string text;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(busy.running.size(), lines_shown); ++i) {
    const RunsThere& one = busy.running[i];
    const std::string id = to_string(one.now.task);
    rows.push_back({one.process + "/l" + std::to_string(one.now.lane), to_string(one.job),
                    one.name.empty() ? id : shown(one.name) + " (" + id + ")",
                    text_of(one.now.ran) + (one.now.given_up ? ", given up" : "")});
  }
  text += rows.empty() ? "All lanes are idle\n" : "\n" + table({"LANE", "JOB", "TASK", "FOR"}, rows);
  if (busy.running.size() > rows.size())
    text += "and " + std::to_string(busy.running.size() - rows.size()) + " more\n";
  for (const std::string& line : busy.notes) text += line + "\n";
  if (busy.kept.empty()) return text;
  rows.clear();
  for (std::size_t i = 0; i < std::min(busy.kept.size(), lines_shown); ++i) {
    const Kept& one = busy.kept[i];
    rows.push_back({to_string(one.job), shown(one.name) + " (" + to_string(one.task) + ")", shown(one.why)});
  }
  text += "\nTasks that wait and cannot run here (the first ones of each process):\n" +
          table({"JOB", "TASK", "WHY"}, rows);
  if (busy.kept.size() > rows.size())
    text += "and " + std::to_string(busy.kept.size() - rows.size()) + " more\n";
  return text;
}

nlohmann::json busy_json(const BusyWith& busy) {
  auto running = nlohmann::json::array(), kept = running;
  for (const RunsThere& one : busy.running)
    running.push_back({{"job", to_string(one.job)},
                       {"process", one.process},
                       {"lane", one.now.lane},
                       {"task", to_string(one.now.task)},
                       {"name", one.name},
                       {"given_up", one.now.given_up},
                       {"ran_seconds", std::chrono::duration<double>(one.now.ran).count()}});
  for (const Kept& one : busy.kept)
    kept.push_back(
        {{"job", to_string(one.job)}, {"task", to_string(one.task)}, {"name", one.name}, {"why", one.why}});
  return {{"running", std::move(running)}, {"cannot_run_here", std::move(kept)}, {"notes", busy.notes}};
}

}  // namespace

std::optional<ProcessId> node_named(const std::string& text) {
  if (!text.starts_with('n')) return std::nullopt;
  std::uint32_t id = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data() + 1, end, id);
  if (problem != std::errc{} || stopped != end || id > 65534) return std::nullopt;
  return ProcessId{id};
}

int explain_node(const Options& options, ProcessId node) {
  const detail::Seen seen = detail::AllNodes(address_of(options)).look();
  const auto there = std::find_if(seen.nodes.begin(), seen.nodes.end(),
                                  [&](const NodeInfo& one) { return one.life.process == node; });
  if (there == seen.nodes.end()) {
    std::cerr << "dag: there is no " << to_string(node) << "; `dag node list` lists the nodes\n";
    return exit_unknown;
  }
  BusyWith busy;
  const auto cluster = connect(options);
  for (const JobInfo& job : seen.jobs) {
    if (has_ended(job.phase)) continue;
    try {
      if (job.phase == JobPhase::no_quorum) throw Failure({ErrorCode::no_quorum, "no node leads it"});
      add(busy, node, job.job, cluster->explain(job.job, {}));
    } catch (const Failure& failure) {
      std::cerr << "dag: without " << to_string(job.job) << ": " << shown(failure.error().what) << '\n';
    }
  }
  if (options.json) {
    nlohmann::json fields = busy_json(busy);
    fields["node"] = to_json(*there);
    std::cout << json_line(fields);
  } else {
    std::cout << node_text(*there) << busy_text(busy);
  }
  for (const std::string& missing : seen.missing) std::cerr << "dag: without " << shown(missing) << '\n';
  return exit_ok;
}

}  // namespace dag::tool
