// `dag graph JOB`: draws the graph that a job submits, without running it. The job itself is started with
// DAG_DRAW set; its first Session::submit checks the graph, writes it there and ends the process. The graph
// of a submitted job (job7), with its spawned tasks, is in the journals of nodes.

#include <errno.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>

#include "libdag/client/checked_output.hpp"
#include "libdag/client/exit_status.hpp"
#include "libdag/story/past_graph.hpp"
#include "tools/dag/chosen_journals.hpp"
#include "tools/dag/cluster/process.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/commands/said.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/views/work_line.hpp"
#include "tools/dag/words.hpp"

namespace dag::tool {
namespace {

struct GraphOptions {
  SharedOptions cluster;
  std::string file;
  std::vector<std::string> words;
  std::shared_ptr<std::vector<std::string>> from;
};

std::string format_of(const std::string& file) {
  const std::string format = file.empty() ? "dot" : file.substr(file.find_last_of('.') + 1);
  if (format != "dot" && format != "svg" && format != "mmd" && format != "json") {
    throw Failure({ErrorCode::usage, "cannot draw to '" + file + "'",
                   "the name must end in .svg, .dot, .mmd or .json"});
  }
  return format;
}

std::string written(const detail::PastGraph& graph, JobId job, const std::string& format) {
  Became became;
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    became.ids.push_back(to_string(graph.tasks[i]));
    became.outcomes.emplace_back(graph.outcomes[i] == Outcome::none ? "" : name(graph.outcomes[i]));
  }
  became.ran = graph.ran;
  if (format == "json") return json(graph.fragment, graph.name, &became);
  DrawOptions how;
  how.title = graph.name.empty() ? to_string(job) : graph.name;
  how.ran = std::move(became.ran);
  how.ids = std::move(became.ids);
  const dag::Drawing drawing = dag::draw(graph.fragment, how);
  return format == "svg" ? svg(drawing) : format == "mmd" ? mermaid(drawing) : dot(drawing);
}

/// Draws a submitted job.
int draw_past(const GraphOptions& options, JobId job) {
  const std::string format = options.cluster->json && options.file.empty() ? "json" : format_of(options.file);
  WorkLine line;
  const ChosenJournals journals(*options.cluster, job, *options.from, {.on_progress = line.on_progress()});
  std::vector<std::string> notices;
  const detail::PastGraph graph = detail::read_graph({journals.paths(), line.on_progress()}, job, notices);
  line.clear();
  for (const std::string& notice : notices) std::cerr << "dag: " << notice << '\n';
  if (graph.tasks.empty()) {
    std::cerr << "dag: the journals do not have the graph of " << to_string(job) << '\n';
    return exit_unknown;
  }
  const std::string text = written(graph, job, format);
  if (options.file.empty()) {
    std::cout << text << std::flush;
    return exit_ok;
  }
  std::ofstream file(options.file);
  file << text;
  file.close();
  if (!file) throw Failure(not_written(options.file, errno));
  return exit_ok;
}

int draw(const std::string& file, const std::vector<std::string>& words) {
  block_signals();
  const std::string format = format_of(file);
  Said submitted;
  ProgramCall call{words, {{"DAG_DRAW", file.empty() ? "-" : file}, {"DAG_DRAW_FORMAT", format}}};
  submitted.hand_to(call, "DAG_SUBMITTED");
  const pid_t child = start(call);
  const Waited waited = wait_for_child();
  if (waited.signal != 0) {
    end_all({child}, std::chrono::milliseconds(1000));
    return exit_interrupted;
  }
  return status_of_job(submitted, waited.end.status, words.front());
}

}  // namespace

void add_graph(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "graph", "draw the graph of a job: of a binary, without running it, or of a submitted job");
  const auto options = std::make_shared<GraphOptions>();
  options->cluster = add_options(*command);
  options->from = add_from(*command);
  command->add_option("-o,--output", options->file,
                      "a file ending in .svg, .dot, .mmd or .json (default: dot on stdout)");
  takes_words_as_they_are(
      command->add_option("job", options->words, "the job's binary, and its arguments after --; or job7")
          ->required());
  command->positionals_at_end();
  command->footer(
      "The graph of a submitted job comes from the journals of nodes, or from --from; its critical path, by\n"
      "measured durations, is marked. More than 400 tasks are drawn in groups.");
  command->callback([=, &chosen] {
    // Arguments behind a binary are the binary's; a submitted job takes no arguments.
    const bool job = parse_job_id(options->words.front()) || options->words.front() == newest_word;
    if (job && options->words.size() == 3 && (options->words[1] == "-o" || options->words[1] == "--output"))
      options->file = options->words[2];
    else if (job && options->words.size() > 1)
      throw CLI::ValidationError("what is '" + options->words[1] + "'? Options come before the job");
    chosen = [=] {
      if (!job) return draw(options->file, job_words(options->words));
      return draw_past(*options, job_of(options->words.front(), *options->cluster, *options->from));
    };
  });
}

}  // namespace dag::tool
