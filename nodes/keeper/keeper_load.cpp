// A node's reports on itself: its load for the others, its metrics, and its progress for the watch.

#include "libdag/warden/limits.hpp"
#include "nodes/keeper/keeper.hpp"

namespace dag {

NodeMeasures Keeper::measures() {
  NodeMeasures measures;
  measures.workers = processes_->now();
  measures.run = processes_->ran();
  measures.lanes_each = static_cast<std::uint32_t>(options_.witness ? 0 : lanes_of_workers());
  measures.tasks = details_.all_counts();
  measures.settled = details_.settled();
  if (store_) measures.log = {store_->waiting_bytes(), store_->lag()};
  measures.process = use_of_this_process();
  return measures;
}

/// Membership asks for the load with every message; the load is measured about as often.
const LoadSummary& Keeper::load_now() {
  const Instant now = steady_now();
  if (loaded_at_ && now - *loaded_at_ < heartbeat_ / 2) return load_;
  loaded_at_ = now;
  const WorkersNow use = processes_->now();
  const MemoryOfNode memory = memory_here_.at(now);
  for (DeviceLoad& device : load_.devices) {
    device.lanes_free = device.lanes - std::min(device.lanes, use.lanes_running);
    device.memory_free_bytes = memory.free_bytes;
    device.busy = use.busy_ever;
  }
  load_.tasks_ready = static_cast<std::uint32_t>(use.queued);
  load_.disk_full = store_ && store_->full();
  load_.disk_stuck = store_ && store_->stuck();
  if (std::exchange(said_stuck_, load_.disk_stuck) != load_.disk_stuck) {
    load_.disk_stuck ? logger_->error("the disk is stuck: this node leads no job that another node can lead")
                     : logger_->warn("the disk makes progress again");
  }
  load_.sick = progress_.look(heartbeat_);
  load_.draining = draining_;
  return load_;
}

ProgressPorts Keeper::progress_ports() {
  ProgressPorts ports;
  ports.now = steady_now;
  ports.disk_lag = [this] { return store_ ? store_->take_longest_lag() : Duration{0}; };
  ports.probe = [this](std::function<void()> heard) {
    caf::anon_send(keeper_, mail::Probe{std::move(heard)});
  };
  ports.changed = [this](bool sick, const std::string& text) {
    sick ? logger_->error("this node is sick, so it leads no job that another node can lead: {}", text)
         : logger_->warn("this node has recovered");
  };
  return ports;
}

NodeLimits Keeper::limits_now() const {
  NodeLimits limits;
  limits.files = files_limit();
  for (ProcessLimit& one : process_limits()) limits.processes.push_back({one.what, one.limit, one.used});
  limits.nodes_of_host = options_.share.size;
  limits.lanes = static_cast<std::uint32_t>(lanes_of_workers());
  return limits;
}

std::size_t Keeper::lanes_of_workers() const {
  return lanes_on(topology_, options_.lanes, options_.share, options_.id).cores.size();
}

/// Memory for worker processes here. The other nodes of this host have as much: together, the whole host's.
Keeper::MemoryOfNode Keeper::memory_now() const {
  std::uint64_t bytes = topology_.memory_bytes, free_bytes = bytes;
  for (const MemoryBound& bound : memory_bounds_here()) {
    if (bound.of_addresses) continue;
    bytes = std::min(bytes, bound.limit);
    free_bytes = std::min(free_bytes, bound.limit - std::min(bound.limit, bound.used));
  }
  return {share_of(bytes, options_.share), share_of(free_bytes, options_.share)};
}

LoadSummary Keeper::load() const {
  const auto lanes = static_cast<std::uint32_t>(lanes_of_workers());
  LoadSummary load;
  load.disk = disk_;
  load.witness = options_.witness;
  if (options_.witness) return load;
  const MemoryOfNode memory = memory_now();
  load.devices.push_back({"cpu", lanes, lanes, memory.bytes, memory.free_bytes, Duration{0}, Duration{0}});
  return load;
}

}  // namespace dag
