// `dag flow FILE`: a workflow of commands from TOML, or the replay of a graph that another program recorded.

#include <cmath>
#include <iostream>
#include <memory>

#include "libdag/client/exit_status.hpp"
#include "libdag/workflows/workflow_file.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/commands/command_kernel.hpp"
#include "tools/dag/commands/command_output.hpp"
#include "tools/dag/commands/flow_file.hpp"
#include "tools/dag/commands/work.hpp"

namespace dag::tool {
namespace {

struct FlowWanted {
  std::string file;
  double scale = 1;
  bool burn = false;
  WorkOptions work;
};

int run_commands(const Flow& flow, const FlowWanted& wanted) {
  Graph graph(flow.name);
  std::vector<WorkTask> tasks;
  const WorkPlace place = place_of_work(wanted.work);
  for (const FlowTask& task : flow.tasks) {
    std::vector<std::string> environment = task.environment;
    environment.push_back("DAG_TASK_ID=" + task.id);
    const auto number = static_cast<std::uint32_t>(tasks.size());
    const CommandLine command = placed(
        {number, task.words, std::move(environment), task.directory, wanted.work.cluster->json, task.outputs},
        file_label(task.id, number), place, wanted.work);
    const auto output = graph.task(task.id, run_command, command).effects(task.effects);
    output.retry({.attempts = task.attempts}).needs({.cpus = task.cpus});
    if (task.timeout_seconds) {
      output.timeout(std::chrono::nanoseconds(static_cast<std::int64_t>(*task.timeout_seconds * 1e9)));
    }
    tasks.push_back({task.id, output, command.files});
  }
  for (std::size_t i = 0; i < flow.tasks.size(); ++i) {
    for (const std::size_t before : flow.tasks[i].after) tasks[i].output.after(tasks[before].output);
  }
  return run_work(graph, tasks, place, wanted.work);
}

int replay_workflow(const Workflow& workflow, const FlowWanted& wanted) {
  Graph graph(workflow.name);
  std::vector<WorkTask> tasks;
  for (const WorkflowTask& task : workflow.tasks) {
    const double nanoseconds = std::round(static_cast<double>(task.takes.count()) * wanted.scale);
    if (!(nanoseconds < 9e18)) {
      throw Failure(
          {ErrorCode::usage, "task '" + task.id + "' would take centuries", "give a smaller --scale"});
    }
    const Replayed replayed{static_cast<std::uint32_t>(tasks.size()), static_cast<std::int64_t>(nanoseconds),
                            wanted.burn};
    tasks.push_back(
        {task.id, graph.task(task.name.empty() ? task.id : task.name, replay, replayed).effects(idempotent)});
  }
  for (const WorkflowEdge& edge : workflow.edges) tasks[edge.to].output.after(tasks[edge.from].output);
  return run_work(graph, tasks, place_of_work(wanted.work), wanted.work);
}

int flow(const FlowWanted& wanted) {
  const std::string text = read_text_file(wanted.file).value_or_throw();
  if (is_flow(wanted.file, text)) return run_commands(read_flow(wanted.file, text), wanted);
  return replay_workflow(workflow_in(wanted.file, text).value_or_throw(), wanted);
}

}  // namespace

void add_flow(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "flow", "run a workflow of commands (TOML), or replay a recorded one (WfCommons JSON, DAX, STG)");
  const auto wanted = std::make_shared<FlowWanted>();
  command->add_option("file", wanted->file, "the workflow")->required();
  command->add_option("--scale", wanted->scale, "replay: run each task for this many times its recorded time")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e9));
  command->add_flag("--burn", wanted->burn, "replay: keep cores busy instead of sleeping");
  add_work_options(*command, wanted->work);
  command->footer(
      "A command finds its task's name in DAG_TASK_ID. Output files of a task are staged: they appear when "
      "the\n"
      "command has succeeded, and files of a failed attempt are removed. A command may write to the "
      "temporary\n"
      "places DAG_OUTPUT_1, DAG_OUTPUT_2 and so on instead. Attempts of one command never overlap, unless "
      "its\n"
      "effects are pure.\n"
      "The workflow runs in the cluster that --address, DAG_ADDRESS or the address file of this user names.\n"
      "Without a cluster, or with --local, it runs in this process. With --json the result of each task goes "
      "to\n"
      "stdout, and the output of commands to stderr.\n"
      "Exit status: 0 all finished, 1 a task failed, 4 the file is no workflow, 130 "
      "interrupted.");
  command->callback([=, &chosen] { chosen = [=] { return flow(*wanted); }; });
}

}  // namespace dag::tool
