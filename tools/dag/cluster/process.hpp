#pragma once
// Child processes of the launcher: started in order, watched together, ended when we end.

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace dag::tool {

/// The program to start.
struct ProgramCall {
  std::vector<std::string> words;                  ///< program and arguments
  std::map<std::string, std::string> environment;  ///< on top of ours
  /// Not empty: the program outlives us; its output goes there.
  std::string log_file = {};
  /// Our open files that it inherits, under the same numbers.
  std::vector<int> inherits = {};
};

/// How a child ended.
struct ChildEnd {
  pid_t child = 0;
  int status = 0;  ///< its exit status, or 128 + the signal that ended it, as a shell says it
  int signal = 0;
};
/// For people: "ended with status 3", "was ended by signal 9 (Killed)".
std::string describe(const ChildEnd& end);

/// `JOB -- ARGS` as the user wrote it, without the dashes.
std::vector<std::string> job_words(std::vector<std::string> words);

/// Starts the program (searched in PATH). Without a log file it runs under a warden, which is our child, and
/// ends with all its descendants when we die. Throws Failure(usage) with the reason when it cannot be
/// started: not found, not executable, not a program.
pid_t start(const ProgramCall& command);

/// Waits for a child to end or for SIGINT, SIGTERM, SIGQUIT or SIGHUP to us; signal numbers come back in
/// `signal`, `child` 0 then. Signals are taken between calls too, from block_signals() on.
struct Waited {
  ChildEnd end;
  int signal = 0;
};
Waited wait_for_child();
void block_signals();

/// True: such a signal has reached us.
bool told_to_end();

/// Goes on in a child that leads a session, which holds all processes that it starts. Our parent waits for
/// the child, hands these signals on and ends with its status. To be called after block_signals() and before
/// there are threads or anything to be written at the end.
void lead_a_session();

/// Sleeps, or less when a child ends. Throws Failure(interrupted) on such a signal to us.
void pause_for(std::chrono::milliseconds limit);

/// SIGTERM to all children and their descendants; SIGKILL to those that have not ended after `grace` or when
/// we get a second signal. Returns when all have ended.
enum class Ending { in_time, too_late, hurried };
Ending end_all(std::vector<pid_t> children, std::chrono::milliseconds grace);

}  // namespace dag::tool
