#include "tools/dag/cluster/health.hpp"

#include <algorithm>

#include "tools/dag/views/print.hpp"

namespace dag::tool {
namespace {

/// A node has four sockets and a few files for each process that it speaks to.
constexpr std::uint64_t files_wanted = 4096;
/// A few dozen jobs with their threads.
constexpr std::uint64_t processes_wanted = 2048;
constexpr std::uint64_t jobs_wanted = 64;
/// A segment of the log, one in reserve, and what checkpoints want at least.
constexpr std::uint64_t free_bytes_wanted = std::uint64_t{1} << 30;
/// Every acknowledgement waits for a sync; an ordinary SSD takes a tenth.
constexpr Duration sync_wanted = std::chrono::milliseconds(20);

std::string decimal_text(double value) {
  const auto tenths = static_cast<std::uint64_t>(value * 10 + 0.5);
  return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10));
}

std::string milliseconds_text(Duration time) {
  return decimal_text(std::chrono::duration<double, std::milli>(time).count()) + " ms";
}

Finding cpus(const MachineFacts& machine) {
  const std::string cores = counted(machine.cores, "core");
  if (machine.cpu_limit == 0 || machine.cpu_limit >= machine.cores) return {Health::good, "cpu", cores, ""};
  return {Health::doubtful, "cpu",
          cores + ", but a control group allows the time of " + decimal_text(machine.cpu_limit),
          "the machine throttles more lanes than that: start nodes with fewer, by --lanes"};
}

Finding memory(const MachineFacts& machine) {
  const bool limited = machine.memory_limit_bytes != 0 && machine.memory_limit_bytes < machine.memory_bytes;
  return {Health::good, "memory",
          bytes_text(limited ? machine.memory_limit_bytes : machine.memory_bytes) +
              (limited ? ", by a control group; the machine has " + bytes_text(machine.memory_bytes) : ""),
          ""};
}

Finding files(const MachineFacts& machine) {
  const std::string open = std::to_string(machine.files_max) + " open files";
  if (machine.files_max >= files_wanted) return {Health::good, "files", open, ""};
  return {machine.files_hard_max >= files_wanted ? Health::doubtful : Health::bad, "files",
          open + " per process",
          "a node of a large cluster needs " + std::to_string(files_wanted) + ": ulimit -n " +
              std::to_string(files_wanted) + ", or LimitNOFILE of its service"};
}

Finding processes(const MachineFacts& machine) {
  if (machine.processes.empty()) return {Health::good, "processes", "no limit", ""};
  const auto left = [](const NodeLimits::Processes& one) {
    return one.limit - std::min(one.limit, one.used);
  };
  const auto tightest = std::min_element(machine.processes.begin(), machine.processes.end(),
                                         [&](const auto& a, const auto& b) { return left(a) < left(b); });
  const std::string what = std::to_string(tightest->used) + " of " + std::to_string(tightest->limit) + " " +
                           tightest->what + " are in use";
  if (left(*tightest) >= processes_wanted) return {Health::good, "processes", what, ""};
  return {
      Health::doubtful, "processes", what,
      "a job has a process with several threads on each node: raise the limit, or TasksMax of the service"};
}

/// The node's own estimate. A node raises its limit of open files as far as it may.
Finding room(const MachineFacts& machine) {
  NodeLimits limits;
  limits.files = machine.files_hard_max;
  limits.processes = machine.processes;
  limits.lanes = machine.cores;
  const NodeRoom room = room_of(limits, 1);
  const auto many = [](std::uint64_t count, const char* things, const std::string& by) {
    return by.empty() ? std::string("any number of ") + things
                      : std::to_string(count) + " " + things + " (" + by + ")";
  };
  const std::string what = "a single node runs " + many(room.jobs, "jobs", room.jobs_by) + " and serves " +
                           many(room.clients, "clients", room.clients_by) + " at a time";
  if (room.jobs >= jobs_wanted && room.clients >= jobs_wanted) return {Health::good, "room", what, ""};
  return {Health::doubtful, "room", what,
          "further jobs and clients wait. More nodes on this machine share the limit: raise it"};
}

Finding disk(const MachineFacts::Disk& disk) {
  if (!disk.problem.empty()) {
    return {Health::bad, "disk", disk.directory + ": " + disk.problem,
            "--data needs a directory that this user can write"};
  }
  const std::string speed = "4 KiB are synced in " + milliseconds_text(disk.sync_median) +
                            " (median), at most " + milliseconds_text(disk.sync_longest);
  const std::string what = disk.directory + ": " + bytes_text(disk.free_bytes) + " free; " + speed;
  if (disk.in_memory) {
    return {Health::bad, "disk", disk.directory + " is in memory",
            "its data is lost when the machine restarts: name a directory on a disk by --data"};
  }
  if (disk.free_bytes < free_bytes_wanted) {
    return {Health::bad, "disk", what,
            "a node with a full disk settles nothing: make room, or name another disk by --data"};
  }
  if (disk.sync_median > sync_wanted) {
    return {Health::doubtful, "disk", what,
            "each submission and each settled outcome waits for a sync: use a faster disk"};
  }
  return {Health::good, "disk", what, ""};
}

}  // namespace

std::vector<Finding> findings(const MachineFacts& machine) {
  std::vector<Finding> all{cpus(machine), memory(machine), files(machine), processes(machine), room(machine)};
  if (machine.shared_memory) {
    all.push_back({Health::good, "shared memory", "available", ""});
  } else {
    all.push_back(
        {Health::bad, "shared memory", "not available: memfd_create is refused",
         "large outputs and messages between processes of one host need it: a sandbox may forbid it"});
  }
  if (!machine.barriers) {
    all.push_back({Health::doubtful, "barriers", "membarrier(2) is refused: each task takes somewhat longer",
                   "a container's seccomp profile may forbid it: allow this system call"});
  }
  all.push_back({Health::good, "descendants",
                 machine.control_groups
                     ? "end with their process, by a control group of its own (cgroup.kill)"
                     : "end with their process, found through /proc: no control group "
                       "(version 2) can be made here",
                 ""});
  if (machine.disk) {
    all.push_back(disk(*machine.disk));
  } else {
    all.push_back(
        {Health::doubtful, "disk", "not checked", "--data DIR checks the data directory of a node"});
  }
  return all;
}

std::vector<Finding> findings(const ClusterFacts& cluster) {
  if (!cluster.problem.empty()) {
    return {{Health::bad, "cluster", cluster.address + ": " + cluster.problem,
             "`dag up` starts one on this machine; --address names another"}};
  }
  std::vector<Finding> all;
  std::size_t seats = 0, running = 0;
  for (const NodeInfo& node : cluster.nodes) {
    const std::string name = to_string(node.life.process);
    if (node.state != MemberState::alive) {
      all.push_back(
          {Health::bad, name, "is not heard",
           "`dag node show " + name + "` shows its last address; its jobs continue on other nodes"});
      continue;
    }
    if (node.load.disk_full || node.load.disk_stuck) {
      all.push_back({Health::bad, name, node.load.disk_full ? "its disk is full" : "its disk is stuck",
                     "until the disk recovers, the node settles nothing and accepts no jobs"});
    } else if (node.load.sick) {
      all.push_back({Health::bad, name, "is sick: it reacts late",
                     "until it recovers, the node leads and accepts no jobs; its log says what is late"});
    } else if (node.load.draining) {
      all.push_back({Health::doubtful, name, "is draining: it accepts no new jobs",
                     "`dag node undrain " + name + "` cancels the drain"});
    }
    if (node.load.disk != 0) ++seats;
    if (!node.load.witness && !node.load.draining) ++running;
  }
  const std::string who = std::to_string(cluster.nodes.size()) +
                          (cluster.nodes.size() == 1 ? " node, " : " nodes, ") + std::to_string(running) +
                          " that run jobs";
  if (running == 0) {
    all.insert(all.begin(),
               {Health::bad, "cluster", who, "`dag join HOST:PORT` starts one more on this machine"});
  } else if (seats < 3) {
    // Two would be no better: a majority of them is both.
    all.insert(all.begin(),
               {Health::doubtful, "cluster",
                who + "; the record of a job has " + (seats == 0 ? "no" : "one") + " copy",
                "with three nodes, or two and a witness, the record survives the loss of a node"});
  } else {
    all.insert(all.begin(), {Health::good, "cluster", who, ""});
  }
  return all;
}

}  // namespace dag::tool
