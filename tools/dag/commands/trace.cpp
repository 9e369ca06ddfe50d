// `dag trace JOB`: a trace of the lanes of a job, from the journals of nodes, for a trace viewer.

#include <cerrno>
#include <fstream>
#include <iostream>

#include "libdag/client/checked_output.hpp"
#include "libdag/client/exit_status.hpp"
#include "libdag/story/trace.hpp"
#include "tools/dag/chosen_journals.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/views/print.hpp"
#include "tools/dag/views/work_line.hpp"

namespace dag::tool {
namespace {

struct TraceOptions {
  SharedOptions cluster;
  std::shared_ptr<std::string> job;
  std::shared_ptr<std::vector<std::string>> from;
  std::string output;
  std::uint64_t arrows_max = detail::trace_arrows_usual;
};

int trace(const TraceOptions& options) {
  const JobId job = job_of(*options.job, *options.cluster, *options.from);
  WorkLine line(options.output.empty());
  const ChosenJournals chosen(*options.cluster, job, *options.from, {.on_progress = line.on_progress()});
  const detail::JournalPaths journals(chosen.paths(), line.on_progress());
  std::vector<std::string> notices;
  detail::TraceCounts counts;
  if (options.output.empty()) {
    counts = detail::write_trace(journals, job, std::cout, notices, options.arrows_max);
    std::cout.flush();
  } else {
    std::ofstream file(options.output);
    if (file) counts = detail::write_trace(journals, job, file, notices, options.arrows_max);
    file.close();
    if (!file) throw Failure(not_written(shown(options.output), errno));
  }
  line.clear();
  for (const std::string& notice : notices) std::cerr << "dag: " << notice << '\n';
  if (counts.slices == 0) {
    std::cerr << "dag: these journals have no runs of " << to_string(job)
              << "; `dag view` prints their records\n";
    return exit_unknown;
  }
  std::cerr << "dag: " << counted(counts.slices, "run") << " of " << counted(counts.tasks_run, "task")
            << " on " << counted(counts.lanes, "lane") << ", " << counted(counts.arrows, "arrow")
            << (options.output.empty() ? "" : " in " + options.output) << '\n';
  if (counts.arrows_beyond > 0)
    std::cerr << "dag: " << counted(counts.arrows_beyond, "more arrow") << " left out; all of them: --arrows "
              << counts.arrows + counts.arrows_beyond << ", if the viewer can show them\n";
  if (counts.arrows_backwards > 0)
    std::cerr << "dag: " << counted(counts.arrows_backwards, "arrow")
              << " left out that point back in time: tasks ran again, or clocks differ\n";
  if (counts.unrun.others > 0)
    std::cerr << "dag: " << counted(counts.unrun.others, "more task") << " settled without a run\n";
  if (counts.unrun.finished > 0)
    std::cerr << "dag: " << counted(counts.unrun.finished, "more task")
              << " finished without a recorded run: a journal is missing, or dropped records\n";
  return exit_ok;
}

}  // namespace

void add_trace(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "trace", "write a trace of a job's lanes for Perfetto or about:tracing, from the journals of nodes");
  const auto options = std::make_shared<TraceOptions>();
  options->cluster = add_options(*command);
  options->job = add_job(*command);
  options->from = add_from(*command);
  command->add_option("-o,--output", options->output, "a file for the trace (default: stdout)");
  command->add_option("--arrows", options->arrows_max, "at most this many arrows from predecessors to tasks")
      ->capture_default_str();
  command->callback([=, &chosen] { chosen = [=] { return trace(*options); }; });
}

}  // namespace dag::tool
