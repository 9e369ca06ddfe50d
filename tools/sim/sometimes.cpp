#include "tools/sim/sometimes.hpp"

namespace dag::sim {
namespace {

using Names = std::vector<std::string>;

/// Faults, refusals, and ways that are taken when something went wrong.
const Names& of_jobs() {
  static const Names names{"Cancel",
                           "JobFailed",
                           "LeaseRenewed",
                           "Missing",
                           "Need",
                           "NotEnded",
                           "Return",
                           "Stop",
                           "asked what the job is",
                           "attempts given back for a thief",
                           "attempts lent to a thief",
                           "came up",
                           "cancelled by somebody",
                           "crashed",
                           "crashed in company",
                           "declared dead alive",
                           "died",
                           "digest taken behind",
                           "fetched",
                           "fetched after the end",
                           "ghost ended by a lane",
                           "killed alone by nobody knows whom",
                           "killed by nobody knows whom",
                           "large output told by a lane",
                           "lease lost",
                           "lent to a thief",
                           "missing inputs",
                           "ran alone",
                           "recorded by name only, and a home died",
                           "recounted",
                           "refused: for an older home",
                           "refused: from the dead",
                           "restored",
                           "ring given up",
                           "ring news for a home",
                           "run again",
                           "saves were left out",
                           "started once",
                           "started under a lease",
                           "stopped: not reproducible",
                           "stopped: what may run only once lost its output",
                           "took two down, where none comes back",
                           "told by a lane here",
                           "told by a lane through a link",
                           "told by a lane through a ring",
                           "waited at the door",
                           "waited for credit",
                           "went on from what was saved"};
  return names;
}

/// Without the events of jobs whose record lies in one place.
const Names& of_cells() {
  static const Names names = [] {
    Names more = of_jobs();
    std::erase(more, "stopped: not reproducible");
    std::erase(more, "took two down, where none comes back");
    more.insert(more.end(), {"a cancel was acknowledged", "a cell got a leader", "a cell's leader lets go",
                             "a disk was full", "a node was drained", "a process was stopped",
                             "a replica heard nobody", "a replica was cut off", "a replica was not heard",
                             "replicas were parted", "the copies' holders changed"});
    return more;
  }();
  return names;
}

const Names& of_log() {
  static const Names names{"a change is refused",
                           "a command said again",
                           "a disk came back empty",
                           "a leader alone",
                           "a leader lets go",
                           "a piece of a snapshot",
                           "a vote is not promised",
                           "a vote is refused",
                           "an older term",
                           "configuration changed",
                           "copies",
                           "crash",
                           "cut",
                           "damage found",
                           "disk full",
                           "disk lost",
                           "drain",
                           "handed over",
                           "handed over by who leaves",
                           "handed over for a full disk",
                           "isolated",
                           "led",
                           "no log",
                           "partition",
                           "pause",
                           "read",
                           "rot",
                           "snapshot installed",
                           "struck",
                           "the logs differ",
                           "transfer"};
  return names;
}

const Names& of_actors() {
  static const Names names{"a cancel has to be asked again",
                           "a cancel was acknowledged",
                           "a client follows its job to another node",
                           "a job ended well",
                           "a job moved",
                           "a job was cancelled before it began",
                           "a node ends, the others go on",
                           "a submission was refused",
                           "a worker process ends by itself",
                           "attempts taken for a thief",
                           "cut",
                           "cut with a bridge",
                           "ghost ended by a lane",
                           "kernel crashed",
                           "link lost",
                           "node crashed",
                           "node crashed, and its disk is lost",
                           "node down: a newer incarnation appeared",
                           "node down: found dead by another process",
                           "node down: its process died",
                           "node down: silent",
                           "power cut",
                           "process paused",
                           "rows taken for a thief",
                           "run again",
                           "told by a lane through a link",
                           "went on from what was saved",
                           "worker process killed"};
  return names;
}

}  // namespace

std::vector<std::string> never_seen(std::string_view world,
                                    const std::map<std::string, std::uint64_t>& seen) {
  const Names& expected = world == "log"      ? of_log()
                          : world == "actors" ? of_actors()
                          : world == "cells"  ? of_cells()
                                              : of_jobs();
  Names missed;
  for (const std::string& name : expected) {
    const auto found = seen.find(name);
    if (found == seen.end() || found->second == 0) missed.push_back(name);
  }
  return missed;
}

}  // namespace dag::sim
