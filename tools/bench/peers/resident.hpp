#pragma once
// The memory that processes occupy, as the operating system counts it.

#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace dag::bench {

inline std::int64_t resident_bytes_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::int64_t whole = 0, resident = 0;
  file >> whole >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Memory of this process, after freed memory is given back.
inline std::int64_t resident_bytes() {
  malloc_trim(0);
  return resident_bytes_of(getpid());
}

/// Memory of all children of our parent: in a run of several processes, all of them.
inline std::int64_t resident_bytes_of_siblings() {
  malloc_trim(0);
  const std::string parent = std::to_string(getppid());
  std::ifstream children("/proc/" + parent + "/task/" + parent + "/children");
  std::int64_t sum = 0;
  for (pid_t child = 0; children >> child;) sum += resident_bytes_of(child);
  return sum;
}

}  // namespace dag::bench
