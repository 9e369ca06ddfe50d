#pragma once
// A child process, from start to end: its output is read, and it does not outlive its time limit.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace dag::bench {

struct Ended {
  int status = 0;  ///< as a shell says it: 128 + the signal
  bool timed_out = false;
  std::string output;    ///< of stdout
  std::string messages;  ///< of stderr
};

/// The words are a program, searched in PATH, and its arguments. Variables that would change the measured
/// program (DAG_ADDRESS and its like) do not reach it. Throws std::runtime_error when it cannot be
/// started.
Ended run_child(const std::vector<std::string>& words, std::chrono::seconds limit);

/// Runs a script of the shell when it is destroyed, or when this process ends in another way, also by
/// SIGKILL.
class Afterwards {
 public:
  /// The script finds `arguments` as $1, $2, ... Throws std::runtime_error when it cannot be started.
  Afterwards(std::string script, const std::vector<std::string>& arguments);
  /// Returns when the script has ended.
  ~Afterwards();
  Afterwards(const Afterwards&) = delete;
  Afterwards& operator=(const Afterwards&) = delete;

 private:
  pid_t shell_ = 0;
  int alive_ = -1;  ///< a pipe to the shell: closed with this process
};

}  // namespace dag::bench
