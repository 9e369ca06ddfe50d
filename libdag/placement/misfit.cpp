#include "libdag/placement/misfit.hpp"

#include <algorithm>
#include <cmath>

#include "libdag/base/bytes.hpp"

namespace dag {

namespace {

/// Nodes named in one error; a cluster of hundreds would bury the reason.
constexpr std::size_t nodes_named_max = 16;

const char* noun(Misfit::What what) { return what == Misfit::What::cpus ? "cpu" : "gpu"; }

std::vector<Misfit> amount_misfits(const TaskNeeds& needs, const Amounts& capacity, const Amounts& free) {
  std::vector<Misfit> result;
  const auto compare = [&](Misfit::What what, std::uint64_t wanted, std::uint64_t whole, std::uint64_t now) {
    now = std::min(now, whole);  // A gossiped device may claim anything.
    if (wanted > now) result.push_back({.what = what, .wanted = wanted, .capacity = whole, .free = now});
  };
  compare(Misfit::What::cpus, needs.cpus, capacity.cpus, free.cpus);
  compare(Misfit::What::gpus, needs.gpus, capacity.gpus, free.gpus);
  compare(Misfit::What::memory, needs.memory_bytes, capacity.memory_bytes, free.memory_bytes);
  return result;
}

Amounts sum(const Amounts& a, const Amounts& b) {
  return {a.cpus + b.cpus, a.gpus + b.gpus, a.memory_bytes + b.memory_bytes};
}

/// The sum of a node's devices, and whether one is of the wanted kind.
struct Together {
  Amounts capacity;
  bool has_kind = false;
};
Together together(const TaskNeeds& needs, const NodeDevices& node) {
  Together found{{}, needs.device_kind.empty()};
  for (const Device& device : node.devices) {
    found.capacity = sum(found.capacity, device.capacity);
    found.has_kind = found.has_kind || device.kind == needs.device_kind;
  }
  return found;
}

}  // namespace

TaskNeeds needs_of(const Needs& needs) {
  // The client refuses other values; this only keeps the conversion defined.
  const double cpus =
      std::isfinite(needs.cpus) ? std::ceil(std::clamp(needs.cpus, 0.0, 4294967295.0)) : 4294967295.0;
  return {static_cast<std::uint32_t>(cpus), needs.gpus, needs.memory, {}};
}

std::string to_string(const Misfit& misfit) {
  switch (misfit.what) {
    case Misfit::What::kind:
      return "never: is not of kind " + misfit.kind_wanted +
             (misfit.kinds_there.empty() ? "" : " but " + misfit.kinds_there);
    case Misfit::What::memory: {
      const std::string needs = "needs " + bytes_text(misfit.wanted);
      if (misfit.is_for_ever()) return "never: has " + bytes_text(misfit.capacity) + " of memory, " + needs;
      return "busy: " + bytes_text(misfit.free) + " of " + bytes_text(misfit.capacity) + " of memory free, " +
             needs;
    }
    case Misfit::What::cpus:
    case Misfit::What::gpus: {
      const std::string needs = "needs " + std::to_string(misfit.wanted);
      const std::string thing = noun(misfit.what);
      if (misfit.capacity == 0) return "never: has no " + thing + ", " + needs;
      const std::string plural = thing + (misfit.capacity == 1 ? "" : "s");
      if (misfit.is_for_ever())
        return "never: has " + std::to_string(misfit.capacity) + " " + plural + ", " + needs;
      return "busy: " + std::to_string(misfit.free) + " of " + std::to_string(misfit.capacity) + " " +
             plural + " free, " + needs;
    }
  }
  return "unknown";
}

std::string to_string(const std::vector<Misfit>& misfits) {
  std::string text;
  for (const Misfit& misfit : misfits) text += (text.empty() ? "" : "; ") + to_string(misfit);
  return text;
}

std::vector<Misfit> misfits(const TaskNeeds& needs, const Device& device) {
  auto result = amount_misfits(needs, device.capacity, device.free);
  if (!needs.device_kind.empty() && needs.device_kind != device.kind) {
    result.insert(result.begin(),
                  {.what = Misfit::What::kind, .kind_wanted = needs.device_kind, .kinds_there = device.kind});
  }
  return result;
}

bool never_fits(const std::vector<Misfit>& misfits) {
  return std::any_of(misfits.begin(), misfits.end(),
                     [](const Misfit& misfit) { return misfit.is_for_ever(); });
}

std::vector<Misfit> misfits(const TaskNeeds& needs, const NodeDevices& node) {
  Amounts free;
  std::string kinds;
  for (const Device& device : node.devices) {
    free = sum(free, device.free);
    if (kinds.find(device.kind) == std::string::npos) kinds += (kinds.empty() ? "" : ", ") + device.kind;
  }
  const auto [capacity, has_kind] = together(needs, node);
  auto result = amount_misfits(needs, capacity, free);
  if (!has_kind) {
    result.insert(result.begin(),
                  {.what = Misfit::What::kind, .kind_wanted = needs.device_kind, .kinds_there = kinds});
  }
  return result;
}

bool never_fits(const TaskNeeds& needs, const NodeDevices& node) {
  const auto [capacity, has_kind] = together(needs, node);
  return !has_kind || needs.cpus > capacity.cpus || needs.gpus > capacity.gpus ||
         needs.memory_bytes > capacity.memory_bytes;
}

Result<std::vector<ProcessId>> able_nodes(const std::string& task, const TaskNeeds& needs,
                                          const std::vector<NodeDevices>& nodes) {
  std::vector<ProcessId> able;
  std::string reasons;
  std::size_t named = 0;
  for (const NodeDevices& node : nodes) {
    auto why = misfits(needs, node);
    std::erase_if(why, [](const Misfit& misfit) { return !misfit.is_for_ever(); });
    if (why.empty()) {
      able.push_back(node.process);
    } else if (++named <= nodes_named_max) {
      reasons += (reasons.empty() ? "" : "\n") + to_string(node.process) + " " + to_string(why);
    }
  }
  if (!able.empty()) return able;
  if (named > nodes_named_max)
    reasons += "\n... and " + std::to_string(named - nodes_named_max) + " more nodes";
  if (nodes.empty()) reasons = "the cluster has no nodes";
  return Error{.code = ErrorCode::needs_impossible,
               .what = "no node could ever run task " + task,
               .hint = "lower its needs, or add a node that has what it needs",
               .cause = reasons};
}

}  // namespace dag
