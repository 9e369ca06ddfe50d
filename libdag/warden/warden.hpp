#pragma once
// Starts a program under a warden (main.cpp), so that all that the program starts ends with it, whoever ends
// it and however: also when this process is killed. Whoever waits for the warden waits until nothing of them
// is left.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dag::warden {

/// What is started. All strings are used before the call returns.
struct Call {
  std::vector<std::string> words;  ///< the program, searched in PATH of `environment`, and its arguments
  std::vector<std::string> environment;
  int program = -1;  ///< an open file: what runs, instead of words[0]
  std::string directory = {};
  /// By Linux's numbers of them (RLIMIT_CPU is 0); all bits set: none. No higher than our hard ones.
  std::vector<std::uint64_t> soft_limits = {};
  /// Where it cannot go to `directory`, it starts in "/".
  bool directory_may_be_gone = false;
  int input = -1, output = -1, errors = -1;  ///< -1: ours
  /// Files of ours that it has, too, under the same numbers.
  std::vector<int> inherits = {};
  /// Of our other files it has none, whatever close-on-exec says.
  bool only_these_files = false;
  /// Why it cannot start is written to its stderr, as a shell does.
  bool says_why_it_did_not_start = true;
  /// What it has to end after SIGTERM when the thread that called us has ended.
  std::chrono::milliseconds grace_of_orphans{0};
};

struct Started {
  pid_t warden = 0;   ///< our child: ends as the process did, when nothing is left
  pid_t process = 0;  ///< what runs the program
  /// Not 0: why there is no program (errno). The warden is a child all the same, to be waited for; what could
  /// be said has been written to `errors`.
  int failed = 0;
};

/// Throws std::system_error when there is no pipe, no memory or no process for it. Safe beside other threads.
Started start(const Call& call);

// Signals to a warden: SIGTERM goes to the process and its group.
/// Kills all of them.
void end_now(pid_t warden);
/// For whoever waits for wardens in another way than by wait(): a warden that was killed leaves what it
/// watched. Kills that, where it has a control group of its own. When the warden has ended, and best before
/// waitpid().
void end_what_is_left(pid_t warden);
/// Whether what is started here has a control group of its own.
bool has_control_groups();
/// Status as waitpid gives it, when all have ended. Throws std::system_error when there is no such child: a
/// status that is not known is not taken for a success.
int wait(pid_t warden);

/// Our environment with these changes on top.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes);

}  // namespace dag::warden
