#pragma once
// Starts of tasks, as cluster_starts writes them down.

#include <sys/types.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace cluster {

/// By task, the process of each of its starts.
inline std::map<int, std::vector<pid_t>> starts_in(const std::string& file) {
  std::map<int, std::vector<pid_t>> starts;
  std::ifstream lines(file);
  pid_t process = 0;
  for (int task = 0; lines >> task >> process;) starts[task].push_back(process);
  return starts;
}

}  // namespace cluster
