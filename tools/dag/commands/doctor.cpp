// `dag doctor`: checks this machine, a directory for data, and a cluster for problems. Good findings are
// printed, too, so that people see all checks.

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "libdag/warden/limits.hpp"
#include "libdag/warden/warden.hpp"
#include "tools/dag/cluster/health.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/views/print.hpp"

namespace dag::tool {
namespace {

/// Visits the control groups that this process is in, from its own up to the root.
template <class Visit>
void each_group(Visit&& visit) {
  std::ifstream of_self("/proc/self/cgroup");
  std::string line;
  while (std::getline(of_self, line)) {
    if (!line.starts_with("0::")) continue;
    for (std::filesystem::path path = line.substr(3);; path = path.parent_path()) {
      visit(std::filesystem::path("/sys/fs/cgroup") / path.relative_path());
      if (path == path.parent_path()) return;
    }
  }
}

/// The lowest limits of all these groups.
void look_at_groups(MachineFacts& machine) {
  each_group([&](const std::filesystem::path& group) {
    double quota = 0, period = 0;
    if (std::ifstream cpu(group / "cpu.max"); cpu >> quota >> period && period > 0) {
      const double cores = quota / period;
      if (machine.cpu_limit == 0 || cores < machine.cpu_limit) machine.cpu_limit = cores;
    }
    std::uint64_t bytes = 0;
    if (std::ifstream memory(group / "memory.max"); memory >> bytes) {
      if (machine.memory_limit_bytes == 0 || bytes < machine.memory_limit_bytes)
        machine.memory_limit_bytes = bytes;
    }
  });
}

MachineFacts::Disk look_at_disk(const std::string& directory) {
  MachineFacts::Disk disk;
  disk.directory = directory;
  const auto problem = [&](const char* what) {
    disk.problem = std::string(what) + ": " + std::strerror(errno);
    return disk;
  };
  struct statfs about {};
  if (statfs(directory.c_str(), &about) != 0) return problem("cannot be examined");
  disk.in_memory = static_cast<unsigned long>(about.f_type) == TMPFS_MAGIC;
  disk.free_bytes = std::uint64_t{about.f_bavail} * static_cast<std::uint64_t>(about.f_bsize);
  std::string path = directory + "/dag-doctor-XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) return problem("cannot be written");
  unlink(path.c_str());
  constexpr int writes = 20;
  const std::vector<char> block(4096, 'd');
  std::vector<Duration> times;
  for (int i = 0; i < writes && disk.problem.empty(); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const bool written =
        write(file, block.data(), block.size()) == static_cast<ssize_t>(block.size()) && fdatasync(file) == 0;
    if (!written) problem("cannot be written");
    times.push_back(std::chrono::steady_clock::now() - begin);
  }
  close(file);
  std::sort(times.begin(), times.end());
  disk.sync_median = times[times.size() / 2];
  disk.sync_longest = times.back();
  return disk;
}

MachineFacts look_at_machine(const std::string& data) {
  MachineFacts machine;
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0)
    machine.cores = static_cast<std::uint32_t>(CPU_COUNT(&cores));
  machine.memory_bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  look_at_groups(machine);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  machine.files_max = files.rlim_cur;
  machine.files_hard_max = files.rlim_max;
  for (ProcessLimit& one : process_limits()) machine.processes.push_back({one.what, one.limit, one.used});
  const int shared = memfd_create("dag-doctor", MFD_CLOEXEC);
  machine.shared_memory = shared >= 0;
  if (shared >= 0) close(shared);
  machine.barriers = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  machine.control_groups = warden::has_control_groups();
  if (!data.empty()) machine.disk = look_at_disk(data);
  return machine;
}

/// Nothing: no cluster is known, and none was named.
std::optional<ClusterFacts> look_at_cluster(const Options& options) {
  ClusterFacts cluster;
  try {
    cluster.address = address_of(options);
  } catch (const Failure&) {
    return std::nullopt;
  }
  try {
    cluster.nodes = connect(options)->nodes();
  } catch (const Failure& failure) {
    cluster.problem = failure.error().what;
  }
  return cluster;
}

const char* name(Health health) {
  return health == Health::good ? "ok" : health == Health::doubtful ? "doubtful" : "bad";
}

int doctor(const Options& options, const std::string& data) {
  std::vector<Finding> all = findings(look_at_machine(data));
  if (const auto cluster = look_at_cluster(options)) {
    for (Finding& one : findings(*cluster)) all.push_back(std::move(one));
  } else {
    all.push_back({Health::good, "cluster", "no cluster is known here", ""});
  }
  const bool bad =
      std::any_of(all.begin(), all.end(), [](const Finding& one) { return one.health == Health::bad; });
  if (options.json) {
    auto list = nlohmann::json::array();
    for (const Finding& one : all) {
      list.push_back(
          {{"health", name(one.health)}, {"about", one.about}, {"what", one.what}, {"hint", one.hint}});
    }
    std::cout << json_line({{"findings", std::move(list)}});
  } else {
    for (const Finding& one : all) {
      std::cout << name(one.health) << std::string(10 - std::strlen(name(one.health)), ' ') << one.about
                << ": " << shown(one.what) << '\n';
      if (!one.hint.empty()) std::cout << "          " << one.hint << '\n';
    }
  }
  return bad ? exit_work_failed : exit_ok;
}

}  // namespace

void add_doctor(CLI::App& app, Chosen& chosen) {
  auto* command =
      app.add_subcommand("doctor", "check this machine, a data directory and the cluster for problems");
  const SharedOptions options = add_options(*command);
  const auto data = std::make_shared<std::string>();
  command->add_option("--data", *data, "the data directory of a node, to check and measure")
      ->check(CLI::ExistingDirectory);
  command->callback([=, &chosen] { chosen = [=] { return doctor(*options, *data); }; });
}

}  // namespace dag::tool
