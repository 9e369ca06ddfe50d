// `dag check FILE`: checks a workflow, the settings of a node, or the binary of a job, without running it.
// The program that reads such a file checks it, so that the two cannot disagree.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/cluster/dagd.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/commands/flow_file.hpp"
#include "tools/dag/commands/said.hpp"
#include "tools/dag/options.hpp"

namespace dag::tool {
namespace {

constexpr auto checked_ends_within = std::chrono::milliseconds(1000);

enum class FileKind { workflow, settings, job };

/// A workflow in TOML has tables of tasks, settings have none.
bool has_tasks(const std::string& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line.compare(begin, 5, "[task") == 0) return true;
  }
  return false;
}

FileKind kind_of(const std::string& file) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(file, problem)) {
    throw Failure({ErrorCode::job_unknown, "there is no file " + shown(file)});
  }
  const std::string ending = ending_of(file);
  if (ending == ".toml") return has_tasks(file) ? FileKind::workflow : FileKind::settings;
  if (is_of_recorded_workflows(ending)) return FileKind::workflow;
  return access(file.c_str(), X_OK) == 0 ? FileKind::job : FileKind::workflow;
}

int status_of(pid_t child, Said* submitted, const std::string& file) {
  const Waited waited = wait_for_child();
  if (waited.signal != 0) {
    end_all({child}, checked_ends_within);
    return exit_interrupted;
  }
  return submitted == nullptr ? waited.end.status : status_of_job(*submitted, waited.end.status, file);
}

int check_file(const std::string& given, bool json) {
  const FileKind kind = kind_of(given);
  const std::string file = std::filesystem::absolute(given).string();
  block_signals();
  if (kind == FileKind::settings) {
    const int status = status_of(
        start({{dagd_program(), "--config", file, "--settings", json ? "json" : "toml"}, {}}), nullptr, file);
    if (status == exit_ok) std::cerr << shown(given) << ": these are valid settings of a node\n";
    return status;
  }
  Said submitted;
  ProgramCall call{{file}, {{"DAG_DRY_RUN", json ? "json" : "text"}, {"DAG_ADDRESS", ""}}};
  if (kind == FileKind::workflow)
    call.words = {std::filesystem::read_symlink("/proc/self/exe"), "flow", "--local", file};
  submitted.hand_to(call, "DAG_SUBMITTED");
  return status_of(start(call), &submitted, given);
}

}  // namespace

void add_check(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "check", "check a workflow, a node's settings or a job's binary, and print a summary; run nothing");
  const auto file = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  command->add_option("file", *file, "a workflow (.toml, .json, .dax, .stg), settings (.toml), or a binary")
      ->required();
  command->add_flag("--json", *json, "print the summary as JSON");
  command->footer(
      "Of a binary, only the main function runs, up to its first submit.\n"
      "Exit status: 0 valid, 2 the binary submits nothing, 4 invalid, or its graph cannot run, 5 no such "
      "file.");
  command->callback([=, &chosen] { chosen = [=] { return check_file(*file, *json); }; });
}

}  // namespace dag::tool
