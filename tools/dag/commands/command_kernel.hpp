#pragma once
// The kernels of `dag exec` and `dag flow`: a command of the user's as a task, and a task that takes as long
// as one did elsewhere. A run's report travels as its progress: an output would be kept only as long as
// another task needs it, and must never make a command run again.

#include <chrono>
#include <cstdint>
#include <dag/dag.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dag::tool {

struct CommandLine {
  std::uint32_t number = 0;  ///< among the tasks of the graph: names the command in its reports
  std::vector<std::string> words;
  std::vector<std::string> environment;  ///< NAME=VALUE, on top of ours; later ones win
  std::string directory;                 ///< empty: ours
  bool output_to_stderr = false;
  std::vector<std::string> outputs = {};  ///< files that it writes; the task is dag::staged when there is one
  /// The command's output goes to files whose names begin so; `{job}` stands for the job. Empty: to none.
  std::string files = {};
  /// True: the whole output is printed here when the command has ended; else it is in the task's log.
  bool prints = true;
};
inline constexpr const char *ending_of_stdout = ".out", *ending_of_stderr = ".err";
/// CommandLine::files of a job, as `job7`.
std::string files_of_job(std::string files, const std::string& job);

/// Runs it, with its input empty, in a process group of its own, which ends when the task is cancelled; its
/// program is looked for in its own PATH. Throws with its exit status or signal and the end of its stderr.
/// Its outputs are staged where the command has not written to their staged places itself.
void run_command(Context& context, const CommandLine& command);

struct Replayed {
  std::uint32_t number = 0;
  std::int64_t takes_nanoseconds = 0;
  bool burn = false;  ///< keep a core busy instead of sleeping
};
void replay(Context& context, const Replayed& task);

/// When a run of a task began and ended, by the steady clock of its machine.
struct Ran {
  std::uint32_t number = 0;
  std::uint32_t attempt = 0;
  std::int64_t began_nanoseconds = 0;
  std::int64_t ended_nanoseconds = 0;
  bool is_good = false;  ///< it finished
};
/// Empty: the progress is not one of these.
std::optional<Ran> ran_in(std::string_view line);

/// Running commands get SIGKILL instead of time to end: the user asked twice.
void hurry();

/// True: no command runs, now or within `limit`. All descendants of a command end with it.
bool wait_for_commands(std::chrono::milliseconds limit);

}  // namespace dag::tool
