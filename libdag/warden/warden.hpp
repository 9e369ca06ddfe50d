#pragma once
// Starts a program under a warden (main.cpp), so that everything the program starts ends with it,
// however it ends, also when this process is killed. The end of the warden means that no process of them
// is left.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dag::warden {

/// The program to start. All strings are used before the call returns.
struct Call {
  std::vector<std::string> words;  ///< the program, searched in PATH of `environment`, and its arguments
  std::vector<std::string> environment;
  int program = -1;  ///< an open file: the program, instead of words[0]
  std::string directory = {};
  /// By Linux's numbers (RLIMIT_CPU is 0); all bits set: no limit. Not above our hard limits.
  std::vector<std::uint64_t> soft_limits = {};
  /// If it cannot go to `directory`, it starts in "/".
  bool directory_may_be_gone = false;
  int input = -1, output = -1, errors = -1;  ///< -1: ours
  /// Our files that it inherits, under the same numbers.
  std::vector<int> inherits = {};
  /// The process inherits none of our other files, even without close-on-exec.
  bool only_these_files = false;
  /// An error at the start is written to its stderr, as a shell does.
  bool says_why_it_did_not_start = true;
  /// Time to end after SIGTERM when the thread that called us has ended.
  std::chrono::milliseconds grace_of_orphans{0};
};

struct Started {
  pid_t warden = 0;   ///< our child: ends with the process's status, when no process is left
  pid_t process = 0;  ///< runs the program
  /// Not 0: the error (errno) that kept the program from starting. The warden is a child all the same, to be
  /// waited for; its message is in `errors`.
  int failed = 0;
};

/// Throws std::system_error without a pipe, memory or a process for it. Safe beside other threads.
Started start(const Call& call);

// Signals to a warden: SIGTERM goes to the process and its group.
/// Kills all processes of the warden.
void end_now(pid_t warden);
/// For callers that do not use wait(): a warden that was killed leaves its processes. Kills them
/// if they have their own control group. Call it when the warden has ended, and best before
/// waitpid().
void end_what_is_left(pid_t warden);
/// True: started programs have control groups of their own.
bool has_control_groups();
/// The status as waitpid gives it, when all have ended. Throws std::system_error when there is no such child,
/// since an unknown status must not pass for a success.
int wait(pid_t warden);

/// Our environment with these changes on top.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes);

}  // namespace dag::warden
