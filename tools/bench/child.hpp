#pragma once
// A child process, from start to end: its output is read, and it does not outlive its time limit.

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

}  // namespace dag::bench
