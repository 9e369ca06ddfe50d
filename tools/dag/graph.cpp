// `dag graph JOB`: draws the graph that a job submits, without running it. The job itself is started with
// DAG_DRAW set; its first Session::submit checks the graph, writes it there and ends the process.

#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/process.hpp"

namespace dag::tool {
namespace {

int draw(const std::string& file, const std::vector<std::string>& words) {
  block_signals();
  const std::string format = file.empty() ? "dot" : file.substr(file.find_last_of('.') + 1);
  if (format != "dot" && format != "svg" && format != "mmd" && format != "json") {
    throw Failure({ErrorCode::usage, "cannot draw to '" + file + "'",
                   "the name must end in .svg, .dot, .mmd or .json"});
  }
  const pid_t child =
      start({words, {{"DAG_DRAW", file.empty() ? "/dev/stdout" : file}, {"DAG_DRAW_FORMAT", format}}});
  const Waited waited = wait_for_child();
  if (waited.signal != 0) {
    end_all({child}, std::chrono::milliseconds(1000));
    return exit_interrupted;
  }
  return waited.end.status;
}

}  // namespace

void add_graph(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("graph", "draw the graph that a job submits, without running it");
  const auto file = std::make_shared<std::string>();
  const auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("-o,--output", *file,
                      "a file ending in .svg, .dot, .mmd or .json (default: dot on stdout)");
  command->add_option("job", *words, "the job's binary, and its arguments after --")->required();
  command->positionals_at_end();
  command->callback([=, &chosen] { chosen = [=] { return draw(*file, job_words(*words)); }; });
}

}  // namespace dag::tool
