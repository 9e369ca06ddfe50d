#include "tools/bench/machine.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace dag::bench {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

int usable_cores() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = cpu_model();
  machine.cores = usable_cores();
  utsname system{};
  if (uname(&system) == 0) machine.kernel = std::string(system.sysname) + " " + system.release;
  std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") >> machine.governor;
  if (getloadavg(&machine.load, 1) != 1) machine.load = -1;
  machine.memory_gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<double>(sysconf(_SC_PAGESIZE)) / static_cast<double>(1u << 30);
#ifdef __clang__
  machine.compiler = "clang " __clang_version__;
#else
  machine.compiler = "g++ " __VERSION__;
#endif
  return machine;
}

}  // namespace dag::bench
