#pragma once
// The kernels of `dag exec` and `dag flow`: a command of the user's as a task, and a task that takes as long
// as one did elsewhere. What they say about a run travels as lines of the job's log: an output would be kept
// only as long as another task needs it, and must never make a command run again.

#include <chrono>
#include <cstdint>
#include <dag/dag.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dag::tool {

struct CommandLine {
  std::uint32_t number = 0;  ///< among the tasks of the graph: names it in what it says
  std::vector<std::string> words;
  std::vector<std::string> environment;  ///< NAME=VALUE, on top of ours; later ones win
  std::string directory;                 ///< empty: ours
  bool output_to_stderr = false;
  std::vector<std::string> outputs = {};  ///< files that it writes; the task is dag::staged when there is one
};
/// Runs it, with its input empty, in a process group of its own, which ends when the task is cancelled. What
/// it wrote comes out whole when it has ended. Throws with its exit status or signal and the end of its
/// stderr. Its outputs are staged where the command has not written to their staged places itself.
void run_command(Context& context, const CommandLine& command);

struct Replayed {
  std::uint32_t number = 0;
  std::int64_t takes_nanoseconds = 0;
  bool burn = false;  ///< keep a core busy instead of sleeping
};
void replay(Context& context, const Replayed& task);

/// When a run of a task began and ended, by the steady clock.
struct Ran {
  std::uint32_t number = 0;
  std::uint32_t attempt = 0;
  std::int64_t began_nanoseconds = 0;
  std::int64_t ended_nanoseconds = 0;
};
/// Empty: the line is not one of these.
std::optional<Ran> ran_in(std::string_view line);

/// Running commands get SIGKILL instead of time to end: the user asked twice.
void hurry();

/// Whether no command runs, now or within `limit`: with it, all that it started has ended.
bool wait_for_commands(std::chrono::milliseconds limit);

}  // namespace dag::tool
