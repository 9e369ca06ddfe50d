// `dag explain JOB[/TASK]`: why a job is not over, why a task does not run, why it failed. The processes of
// the job answer for the tasks that have a home there; the journals answer for an ended job.

#include <algorithm>
#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/explain.hpp"
#include "libdag/client/nearest.hpp"
#include "tools/dag/chosen_journals.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/commands/explain_node.hpp"
#include "tools/dag/commands/explain_past.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/views/print.hpp"

namespace dag::tool {
namespace {

using detail::NodeWithout;

constexpr std::size_t tasks_shown = 10;

std::string label_of(const TaskExplained& task) { return tool::label(task.task, task.name); }

// ---- For people

bool is_current(const detail::TaskReason& reason, const RunningNow& given_up) {
  return !reason.running && reason.task.state != RowState::ended && given_up.attempt == reason.task.attempt;
}

std::string runs_text(const detail::TaskReason& reason) {
  const TaskExplained& task = reason.task;
  std::string text = "runs on lane " + std::to_string(reason.running->lane) + " of " +
                     to_string(reason.at->process) + " for " + text_of(reason.running->ran);
  if (task.failures > 0) text += ", attempt " + std::to_string(task.failures + 1);
  if (task.usual) {
    text += ", tasks of this name usually take " + text_of(task.usual->mean);
    if (task.usual->runs > 0) text += " (from " + counted(task.usual->runs, "run") + ")";
  }
  if (const auto left = left_of(reason); left && *left > Duration{0})
    text += ": about " + text_of(*left) + " more";
  return text;
}

/// The task's place and the reason, without the fields of the line before.
std::string reason_text(const detail::TaskReason& reason) {
  const TaskExplained& task = reason.task;
  std::string text = task.why;
  if (reason.running) {
    text = runs_text(reason);
  } else if (std::any_of(reason.given_up.begin(), reason.given_up.end(),
                         [&](const auto& one) { return is_current(reason, one.second); })) {
    text = "was told to stop, and its kernel has not returned";
  } else if (reason.place > 0) {
    const Life at = reason.at.value_or(reason.home);
    text = "queued on " + to_string(at.process) + ": " + ordinal(reason.place) + " in line for a lane";
  } else if (!reason.taken.empty()) {
    text = "on " + to_string(reason.at->process) + ": " + reason.taken;
  } else if (task.state == RowState::ready) {
    text += " of " + to_string(reason.home.process);
  }
  return shown(text);
}

/// Kernels of the task whose lanes were given up.
std::string given_up_text(const detail::TaskReason& reason, const std::string& indent) {
  std::string text;
  for (const auto& [life, lane] : reason.given_up)
    text += indent + "attempt " + std::to_string(lane.number) + " was given up on lane " +
            std::to_string(lane.lane) + " of " + to_string(life.process) + ": its kernel still runs, for " +
            text_of(lane.ran) + "\n";
  return text;
}

/// When a queued task starts, and what would let it start at once.
std::string start_text(const detail::TaskReason& reason, const std::string& indent) {
  if (reason.place == 0) return "";
  std::string text;
  if (const auto& starts = reason.starts) {
    text = indent + "starts in about " + text_of(starts->about) + " (" + text_of(starts->least) + " to " +
           text_of(starts->most);
    text += starts->runs > 0 ? ", from " + counted(starts->runs, "run") + ")\n" : ", as stated)\n";
  }
  text += indent + "starts now with " + counted(reason.place, "more free lane") + ": `dag join` adds a node";
  if (reason.place > 1 && reason.task.priority < Priority::urgent)
    text += "; a higher .priority() goes before lower ones";
  return text + "\n";
}

/// The kernel's last word by Context::progress.
std::string kernel_progress_text(TaskId task, const JobInfo& job, const std::string& indent) {
  if (!job.details) return "";
  std::string text;
  for (const TaskProgress& one : job.details->progress) {
    if (one.task == task) text += indent + "says: " + tool::progress_text(one) + "\n";
  }
  return text;
}

/// "2 cpus, 1 gpu, 8.0 GiB of memory": the needs beyond one lane.
std::string needs_text(const TaskNeeds& needs) {
  std::string text;
  const auto add = [&](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  if (needs.cpus != 1) add(counted(needs.cpus, "cpu"));
  if (needs.gpus > 0) add(counted(needs.gpus, "gpu"));
  if (needs.memory_bytes > 0) add(bytes_text(needs.memory_bytes) + " of memory");
  return text;
}

/// The task's unusual needs, before it runs.
std::string asks_text(const TaskExplained& task, const std::string& indent) {
  if (task.state == RowState::ended || task.state == RowState::running) return "";
  std::string text = needs_text(task.needs);
  if (!text.empty()) text = "needs " + text;
  if (task.priority != Priority::normal)
    text += (text.empty() ? "" : "; ") + std::string("its priority is ") +
            std::string(detail::name(task.priority));
  return text.empty() ? "" : indent + text + "\n";
}

/// More of one task, indented below it.
std::string more_text(const detail::TaskReason& reason, const std::string& indent) {
  const TaskExplained& task = reason.task;
  std::string text = asks_text(task, indent) + given_up_text(reason, indent) + start_text(reason, indent);
  if (task.failures > 0)
    text += indent + "failed " + (task.failures == 1 ? "once" : std::to_string(task.failures) + " times") +
            (task.state == RowState::ended ? "" : " so far") + "\n";
  if (task.error) text += indent + "the last failure: " + shown(task.error->what) + "\n";
  if (task.error && !task.error->cause.empty())
    text += indent + "because: " + shown(task.error->cause) + "\n";
  if (task.error && !task.error->hint.empty()) text += indent + "hint: " + shown(task.error->hint) + "\n";
  if (const auto first = would_begin(reason); first && reason.place == 0) {
    text += indent + to_string(first->process) + " can start it " +
            (first->in < std::chrono::milliseconds(1) ? "now" : "in about " + text_of(first->in)) + "\n";
  } else if (!first && !task.candidates.empty() && task.state == RowState::ready) {
    text += indent + "starts when one of these has what it needs:\n";
  }
  return text + candidates_text(task.candidates, indent);
}

std::string counts_text(const std::array<std::uint64_t, row_states>& counts) {
  std::string text;
  for (const RowState state : {RowState::running, RowState::lent, RowState::ready, RowState::held,
                               RowState::waiting, RowState::ended}) {
    const std::uint64_t count = counts[static_cast<std::size_t>(state)];
    if (count == 0) continue;
    const char* words = state == RowState::lent ? "dispatched" : detail::name(state).data();
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + words;
  }
  return text;
}

/// `stories`: the journals' account of some of the tasks.
std::string list_text(const JobInfo& job, const std::vector<detail::TaskReason>& reasons, std::uint64_t all,
                      const Stories& stories = {}) {
  std::string text;
  const std::size_t shown_now = std::min(reasons.size(), tasks_shown);
  std::size_t without_places = 0;
  for (std::size_t i = 0; i < shown_now; ++i) {
    without_places += detail::places_left_out(reasons[i]) ? 1 : 0;
    text += "  " + label_of(reasons[i].task) + ": " + reason_text(reasons[i]) + "\n" +
            kernel_progress_text(reasons[i].task.task, job, "    ") + more_text(reasons[i], "    ");
    for (const detail::PastTask& past : stories.tasks) {
      if (past.task == reasons[i].task.task) text += story_text(past, "    ", "has not ended");
    }
  }
  if (all > shown_now) text += "  and " + std::to_string(all - shown_now) + " more\n";
  if (without_places > 0 && reasons.size() > 1)
    text += "  " + std::to_string(without_places) +
            " of these are listed without their candidates: `dag explain JOB/TASK` lists those of one task\n";
  return text;
}

/// Lanes of processes, where tasks wait for one.
std::string processes_text(const detail::Explanation& found) {
  std::string text;
  for (const ProcessExplained& process : found.processes) {
    const std::size_t given_up = detail::given_up_in(process);
    text += "  " + to_string(process.life.process) + ": " +
            std::to_string(process.running.size() - given_up) + " of " + std::to_string(process.lanes) +
            " lanes busy";
    if (given_up > 0) text += ", " + counted(given_up, "given-up kernel") + " not returned";
    if (process.queued > 0) text += ", " + counted(process.queued, "task") + " queued";
    text += "\n";
  }
  return text;
}

std::string without_text(const std::vector<NodeWithout>& nodes) {
  std::string text;
  for (const NodeWithout& one : nodes)
    text += "  " + to_string(one.node) + ": runs no task of this job: " + shown(one.why) + "\n";
  return text;
}

std::string silent_text(const detail::Explanation& found) {
  std::string text;
  for (const Life life : found.silent)
    text += "  " + to_string(life.process) +
            " has not answered: the process is stopped or overloaded. Its tasks are missing here\n";
  return text;
}

std::string explained_text(const JobInfo& job, const detail::Explanation& found,
                           const std::vector<NodeWithout>& without) {
  std::string text = to_string(job.job) + " (" + shown(job.name) + ") runs for " + text_of(job.age) + ": " +
                     counts_text(found.counts) + "\n";
  // Tasks that wait for listed tasks add nothing.
  std::vector<detail::TaskReason> worth;
  std::uint64_t all = 0;
  for (const RowState state : {RowState::held, RowState::running, RowState::lent, RowState::ready})
    all += found.counts[static_cast<std::size_t>(state)];
  for (const detail::TaskReason& reason : found.tasks) {
    if (reason.task.state != RowState::waiting && reason.task.state != RowState::ended)
      worth.push_back(reason);
  }
  // The longest first: it is what everything else may wait for.
  std::stable_sort(worth.begin(), worth.end(), [](const auto& a, const auto& b) {
    const auto ran = [](const detail::TaskReason& one) {
      return one.running ? one.running->ran : Duration{0};
    };
    return ran(a) > ran(b);
  });
  text += list_text(job, worth, std::max<std::uint64_t>(all, worth.size()));
  return text + processes_text(found) + without_text(without) + silent_text(found);
}

std::string tasks_text(const JobInfo& job, const detail::Explanation& found, const Stories& stories,
                       const std::vector<NodeWithout>& without) {
  std::string text;
  const std::uint64_t all = found.count();
  if (all > 1) text += std::to_string(all) + " tasks: " + counts_text(found.counts) + "\n";
  text += list_text(job, found.tasks, all, stories);
  if (!found.roots.empty()) {
    text += "Blocked by:\n" + list_text(job, found.roots, found.roots.size());
    if (found.roots_beyond) text += "  and perhaps by more\n";
    if (const auto earliest = not_before(found); earliest && *earliest > Duration{0})
      text += "Earliest start: in about " + text_of(*earliest) + "\n";
  }
  const auto ready = [](const detail::TaskReason& one) {
    return one.task.state == RowState::ready || one.place > 0 || !one.given_up.empty();
  };
  if (std::any_of(found.tasks.begin(), found.tasks.end(), ready) ||
      std::any_of(found.roots.begin(), found.roots.end(), ready))
    text += "Processes:\n" + processes_text(found) + without_text(without);
  return text + silent_text(found);
}

// ---- The question

/// No process reports the task that was asked for. Throws Failure(job_unknown) when there is no such task;
/// else it is too early, since no home has counted it.
void fail_if_unknown(const Asked& what, const JobInfo& job) {
  std::vector<std::string_view> names;
  if (job.details) {
    for (const ClassInfo& one : job.details->classes) names.push_back(one.name);
  }
  if (std::find(names.begin(), names.end(), what.task) != names.end()) return;
  const auto meant = detail::nearest(what.task, names);
  throw Failure({ErrorCode::job_unknown, to_string(what.job) + " has no task '" + shown(what.task) + "'",
                 meant ? "did you mean '" + shown(std::string(*meant)) + "'?"
                       : "`dag show " + to_string(what.job) + "` lists the names of its tasks"});
}

/// Stories of listed tasks with earlier attempts: their homes know only how those ended.
Stories stories_behind(const Options& options, JobId job, const detail::Explanation& found) {
  TaskSelector which;
  for (std::size_t i = 0; i < std::min(found.tasks.size(), tasks_shown); ++i) {
    const TaskExplained& task = found.tasks[i].task;
    if (task.state == RowState::ended || task.failures > 0) which.tasks.push_back(task.task);
  }
  if (which.tasks.empty()) return {};
  try {
    return stories_of(options, job, which, {});
  } catch (const Failure& failure) {
    return {{}, 0, {"ended attempts are not known: " + failure.error().message()}};
  }
}

int explain(const Options& options, const std::string& text, bool failed,
            const std::vector<std::string>& from) {
  const JobAndTask named = job_and_task_of(text, options, from);
  const Asked what{named.job, named.task, failed};
  if (!from.empty()) return explain_past(options, what, from);
  const auto cluster = connect_for(options, what.job);
  JobInfo job;
  try {
    job = info_of(*cluster, what.job);
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::job_unknown) throw;
    // A node forgets; journals do not, or say that they know nothing.
    return explain_past(options, what, from);
  }
  const bool over = has_ended(job.phase);
  if (over && what.task.empty() && !failed) {
    std::cout << (options.json ? json_line({{"job", to_json(job)}}) : tool::job_text(job));
    return exit_ok;
  }
  if (over) return explain_past(options, what, from);
  const auto ask = [&](const TaskSelector& which) { return cluster->explain(what.job, which); };
  TaskSelector wanted = detail::selector_of(what.task, failed);
  const detail::Explanation found = detail::explain(ask, wanted);
  const bool nothing = found.count() == 0 && found.silent.empty();
  if (nothing && !what.task.empty()) {
    wanted.failed = false;
    const bool all_well = failed && detail::explain(ask, wanted).count() > 0;
    // Processes know other tasks and not this one, so there is no such task.
    if (!all_well && detail::explain(ask, {}).count() > 0) fail_if_unknown(what, info_of(*cluster, what.job));
  }
  const bool whole = what.task.empty() && !failed;
  const std::vector<NodeWithout> without = detail::nodes_without(job, cluster->nodes());
  const Stories stories = whole ? Stories{} : stories_behind(options, what.job, found);
  if (options.json) {
    nlohmann::json fields = to_json(found);
    fields["job"] = to_json(job);
    fields["nodes_without"] = nlohmann::json::array();
    for (const NodeWithout& one : without)
      fields["nodes_without"].push_back({{"node", to_string(one.node)}, {"why", one.why}});
    fields["past"] = nlohmann::json::array();
    for (const detail::PastTask& task : stories.tasks) fields["past"].push_back(to_json(task, what.job));
    std::cout << json_line(fields);
  } else if (nothing && failed) {
    std::cerr << "dag: no such task has failed\n";
  } else if (nothing) {
    std::cout << to_string(what.job)
              << " is starting, or is being rebuilt after a loss: no process knows its tasks yet\n";
  } else {
    std::cout << (whole ? explained_text(job, found, without) : tasks_text(job, found, stories, without))
              << std::flush;
  }
  for (const std::string& notice : stories.notices) std::cerr << "dag: " << notice << '\n';
  return exit_ok;
}

}  // namespace

void add_explain(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "explain", "explain why a job is not over, why a task does not run or failed, or what a node does");
  const auto options = add_options(*command);
  const auto what = std::make_shared<std::string>();
  command
      ->add_option(
          "what", *what,
          "job7, or job7/TASK: a task's name or number, or numbers: 7/3-9, 7/train/3-9; last for the "
          "newest job; or a node: n2")
      ->required();
  const auto failed = std::make_shared<bool>();
  command->add_flag(
      "--failed", *failed,
      "only tasks that failed or have a failed attempt; in an ended job, tasks that failed or crashed "
      "their process");
  const auto from = add_from(*command);
  command->footer(
      "While a job runs, its processes answer: why a task does not run, by the rules that place tasks.\n"
      "For ended attempts and ended jobs, the journals of nodes answer: where each attempt ran, why there,\n"
      "and how it ended.");
  command->callback([=, &chosen] {
    const auto node = node_named(*what);
    if (node && (*failed || !from->empty()))
      throw CLI::ValidationError("--from and --failed are for jobs, not for nodes");
    chosen = [=] { return node ? explain_node(*options, *node) : explain(*options, *what, *failed, *from); };
  });
}

}  // namespace dag::tool
