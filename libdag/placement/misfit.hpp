#pragma once
// Why a task cannot run on a device, or on a node, now or ever. Placement, submission and `dag explain` use
// this predicate, so they never disagree. Does not decide where a task runs best.

#include <cstdint>
#include <string>
#include <vector>

#include "dag/options.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/base/result.hpp"

namespace dag {

/// Resources that a task occupies while it runs.
struct TaskNeeds {
  std::uint32_t cpus = 1;
  std::uint32_t gpus = 0;
  std::uint64_t memory_bytes = 0;
  /// Device kind of its kernel; empty: any.
  std::string device_kind = {};
  bool operator==(const TaskNeeds&) const = default;
};
/// Fractions of a lane are rounded up.
TaskNeeds needs_of(const Needs& needs);

struct Amounts {
  std::uint32_t cpus = 0;
  std::uint32_t gpus = 0;
  std::uint64_t memory_bytes = 0;
  bool operator==(const Amounts&) const = default;
};

/// A device. `free` above `capacity` counts as `capacity`.
struct Device {
  std::string kind;
  Amounts capacity;
  Amounts free;
  bool operator==(const Device&) const = default;
};

/// A reason. Amounts in lanes, devices or bytes; for `kind` they mean nothing.
struct Misfit {
  enum class What : std::uint8_t { kind, cpus, gpus, memory };
  What what = What::cpus;
  std::uint64_t wanted = 0;
  std::uint64_t capacity = 0;
  std::uint64_t free = 0;
  /// The wanted kind and the available kinds, for `kind`.
  std::string kind_wanted = {};
  std::string kinds_there = {};

  /// True: it will not fit later either, unless the device is changed.
  bool is_for_ever() const { return what == What::kind || wanted > capacity; }
  bool operator==(const Misfit&) const = default;
};
std::string to_string(
    const Misfit& misfit);  // "never: has no gpu", "memory: 14.0 of 24.0 GiB free, needs 20.0 GiB"
/// All misfits in a line; empty for none.
std::string to_string(const std::vector<Misfit>& misfits);

/// Empty means the device fits. Every reason is listed, not only the first.
std::vector<Misfit> misfits(const TaskNeeds& needs, const Device& device);
bool never_fits(const std::vector<Misfit>& misfits);

/// The devices of a node together, since a task may hold lanes of its CPUs and a GPU at once.
struct NodeDevices {
  ProcessId process;
  std::vector<Device> devices;
};
std::vector<Misfit> misfits(const TaskNeeds& needs, const NodeDevices& node);
/// never_fits(misfits(needs, node)), without the reasons: placement asks it for each candidate.
bool never_fits(const TaskNeeds& needs, const NodeDevices& node);

/// The processes that could ever run the task; or needs_impossible, with the reason for each
/// node.
Result<std::vector<ProcessId>> able_nodes(const std::string& task, const TaskNeeds& needs,
                                          const std::vector<NodeDevices>& nodes);

}  // namespace dag
