// Faults of copies of a log, and the choice of a seed among them.

#include "tools/sim/log_world.hpp"

namespace dag::sim {

using namespace consensus;
using std::chrono::milliseconds;
using std::chrono::seconds;

void LogWorld::plan_faults() {
  const auto plan = [&](const std::string& kind, std::uint32_t count) {
    const auto span = static_cast<std::uint64_t>(options_.calm_at.since_start.count());
    for (std::uint32_t i = 0; i < count; ++i) {
      time_.at(Instant{Duration(random_.below(span))}, [this, kind] {
        if (!calm()) fault(kind);
      });
    }
  };
  plan("crash", options_.crashes);
  plan("disk lost", options_.disks_lost);
  plan("cut", options_.cuts);
  plan("partition", options_.partitions);
  plan("pause", options_.pauses);
  plan("disk full", options_.disks_full);
  plan("rot", options_.rots);
  plan("transfer", options_.transfers);
  if (options_.grows) plan("copies", 10);
  plan("drain", options_.drains);
}

LogWorld::Node& LogWorld::victim() {
  if (random_.chance(options_.aim)) {
    for (Node& node : nodes_) {
      if (node.replica && node.replica->role() == Replica::Role::leader) return node;
    }
  }
  return nodes_[random_.below(nodes_.size())];
}

/// From the first of each to the second, until that time has passed.
void LogWorld::cut(const Ways& ways, Duration how_long) {
  cut_.insert(ways.begin(), ways.end());
  time_.after(how_long, [this, ways] {
    for (const auto& way : ways) cut_.erase(way);
  });
}

/// Nobody hears it, and it hears nobody.
void LogWorld::isolate(Node& node, Duration how_long) {
  Ways ways;
  for (const Node& other : nodes_) {
    if (other.number == node.number) continue;
    ways.emplace_back(node.number, other.number);
    ways.emplace_back(other.number, node.number);
  }
  ++seen["isolated"];
  note("n" + std::to_string(node.number) + " is isolated");
  cut(ways, how_long);
}

/// No more than a minority of the copies may go for good, in any configuration that a replica may yet follow:
/// nothing is promised beyond that.
bool LogWorld::may_lose_disk(const Node& node) const {
  const auto survives = [&](const Configuration& all) {
    std::size_t lost = 0;
    for (const Seat& voter : all.voters) {
      lost += voter == seat_of(node) || seat_of(nodes_[voter.node.value]) != voter ? 1 : 0;
    }
    return lost * 2 < std::max<std::size_t>(all.voters.size(), 1);
  };
  for (const Node& one : nodes_) {
    if (one.replica && !survives(one.replica->configuration())) return false;
    if (!one.disk.stored().snapshot) continue;
    const Configuration* stored = &one.disk.stored().snapshot->configuration;
    for (const Entry& entry : one.disk.stored().entries) {
      if (entry.type == EntryType::configuration) stored = &entry.configuration;
    }
    if (!survives(*stored)) return false;
  }
  return std::all_of(changes_.begin(), changes_.end(), [&](const auto& one) { return survives(one.second); });
}

void LogWorld::fault(const std::string& kind) { fault(kind, victim()); }

/// A replica dies when it has just promised something, after its messages of that moment.
void LogWorld::strike(Node& node, double more_often) {
  if (calm() || !random_.chance(more_often * options_.struck_at_promises)) return;
  ++seen["struck"];
  time_.after(Duration(random_.below(2'000'000)), [this, number = node.number, life = node.life] {
    if (nodes_[number].life == life) kill(nodes_[number], false);
  });
}

/// The copy hears a little later that there is no room, and that there is again.
void LogWorld::fill_disk(Node& node, Duration how_long) {
  node.disk_full_until = now() + how_long;
  for (const Duration later : {Duration{milliseconds(5)}, milliseconds(5) + how_long}) {
    time_.after(later, [this, number = node.number, life = node.life] {
      tell(number, life,
           [this](Node& again) { again.replica->on_disk_full(now() < again.disk_full_until, local(again)); });
    });
  }
}

void LogWorld::leave(Node& node, bool leaving) {
  node.leaving = leaving;
  note("n" + std::to_string(node.number) + (leaving ? " is to go" : " stays"));
  tell(node.number, node.life,
       [this](Node& again) { again.replica->on_leaving(again.leaving, local(again)); });
}

/// Its copy, unless that has died; when it is paused, afterwards.
void LogWorld::tell(std::uint32_t number, std::uint64_t life, const std::function<void(Node&)>& what) {
  Node& node = nodes_[number];
  if (node.life != life || !node.replica) return;
  if (now() < node.paused_until) {
    node.missed.push_back([this, number, life, what] { tell(number, life, what); });
    return;
  }
  what(node);
  drain(node);
}

void LogWorld::fault(const std::string& kind, Node& node) {
  ++seen[kind];
  const Duration some = milliseconds(50 + random_.below(3000));
  if (kind == "crash") {
    if (random_.chance(0.1)) {
      for (Node& one : nodes_) kill(one, false);
    } else {
      kill(node, false);
    }
  } else if (kind == "disk lost") {
    if (may_lose_disk(node)) {
      ++seen["a disk came back empty"];
      kill(node, true);
    }
  } else if (kind == "rot") {
    if (may_lose_disk(node)) {
      kill(node, false);
      // Found when it starts; from now on it counts as lost.
      if (node.disk.rot(random_) && !node.disk.start()) {
        ++seen["damage found"];
        node.disk = SimDisk(next_disk_++);
      }
    }
  } else if (kind == "cut") {
    const auto other = static_cast<std::uint32_t>(random_.below(nodes_.size()));
    const auto way = random_.chance(0.5) ? std::pair(node.number, other) : std::pair(other, node.number);
    note("cut n" + std::to_string(way.first) + " to n" + std::to_string(way.second));
    cut({way}, some);
  } else if (kind == "partition") {
    std::vector<bool> side(nodes_.size());
    for (std::size_t i = 0; i < side.size(); ++i) side[i] = random_.chance(0.5);
    Ways ways;
    for (std::uint32_t a = 0; a < side.size(); ++a) {
      for (std::uint32_t b = 0; b < side.size(); ++b) {
        if (side[a] != side[b]) ways.emplace_back(a, b);
      }
    }
    note("partition");
    cut(ways, some);
  } else if (kind == "pause") {
    if (!node.replica || now() < node.paused_until) return;
    node.paused_until = now() + some;
    note("n" + std::to_string(node.number) + " pauses");
    time_.at(node.paused_until, [this, number = node.number, life = node.life] {
      Node& again = nodes_[number];
      if (again.life != life) return;
      again.had_majority = now();
      again.refuses.reset();
      read(again);
      if (again.life != life) return;
      for (const auto& one : std::exchange(again.missed, {})) one();
    });
  } else if (kind == "disk full") {
    fill_disk(node, some);
  } else if (kind == "drain") {
    leave(node, true);
    if (options_.drained_for_good) return;
    time_.after(some, [this, number = node.number] { leave(nodes_[number], false); });
  } else if (kind == "transfer") {
    for (Node& one : nodes_) {
      if (!one.replica || one.replica->role() != Replica::Role::leader || now() < one.paused_until) continue;
      one.replica->transfer(ProcessId{static_cast<std::uint32_t>(random_.below(nodes_.size()))}, local(one));
      drain(one);
    }
  } else {
    copies_wanted_ = 1 + random_.below(options_.nodes);
  }
}

// ---- One seed

LogWorldOptions log_world(std::uint64_t seed) {
  Random random(seed * 23 + 1);
  LogWorldOptions world;
  world.seed = seed;
  world.nodes = 3 + static_cast<std::uint32_t>(random.below(4));
  world.genesis_voters = 1 + static_cast<std::uint32_t>(random.below(std::min(world.nodes, 5u)));
  world.copies_wanted =
      random.chance(0.7) ? std::min<std::size_t>(3, world.nodes) : 1 + random.below(world.nodes);
  world.clients = 1 + static_cast<std::uint32_t>(random.below(4));
  world.commands = 5 + static_cast<std::uint32_t>(random.below(20));
  const auto sometimes = [&](std::uint64_t most) {
    return random.chance(0.5) ? static_cast<std::uint32_t>(1 + random.below(most)) : 0;
  };
  world.lost = random.chance(0.5) ? 0.2 * random.unit() : 0;
  world.late = random.chance(0.5) ? 0.2 * random.unit() : 0;
  world.repeated = random.chance(0.5) ? 0.2 * random.unit() : 0;
  world.delay_max = random.chance(0.5) ? milliseconds(5) : milliseconds(100);
  world.crashes = sometimes(12);
  world.disks_lost = sometimes(3);
  world.cuts = sometimes(10);
  world.partitions = sometimes(6);
  world.pauses = sometimes(6);
  world.disks_full = sometimes(4);
  world.transfers = sometimes(6);
  world.rots = sometimes(3);
  world.grows = random.chance(0.3);
  world.any_changes = random.chance(0.3);
  world.aim = random.chance(0.5) ? 0.6 : 0;
  world.struck = random.chance(0.6) ? 0.5 + 0.5 * random.unit() : 0;
  world.struck_at_promises = random.chance(0.5) ? 0.3 * random.unit() : 0;
  world.drift = random.chance(0.3) ? 0.01 : 0;
  world.slow_disks = random.chance(0.3);
  world.write_max = random.chance(0.5) ? milliseconds(3) : milliseconds(60);
  if (random.chance(0.6)) world.compact_every = 1 + random.below(8);
  ReplicaOptions& replica = world.replica;
  replica.election_timeout = milliseconds(150 + random.below(400));
  replica.heartbeat = replica.election_timeout / 5;
  if (random.chance(0.6)) replica.entries_per_append_max = 1 + random.below(2);
  if (random.chance(0.5)) replica.snapshot_piece_bytes = 8 + random.below(64);
  replica.entries_kept = random.chance(0.5) ? random.below(4) : 1024;
  Random sizes(seed * 83 + 7);  // In none of the seeds in tests/sim/log_seeds.txt.
  if (seed % 23 < 11) {
    if (sizes.chance(0.6)) replica.bytes_in_flight_max = 1 + sizes.below(1000);
    if (sizes.chance(0.6)) replica.bytes_kept = sizes.below(1000);
  }
  world.calm_at = Instant{seconds(4 + random.below(12))};
  if (seed % 4 == 2) {
    // Nobody comes or goes; leaders change as often as can be, and little is under way at once.
    world.nodes = world.genesis_voters = random.chance(0.7) ? 3 : 5;
    world.copies_wanted = world.nodes;
    world.disks_lost = world.rots = 0;
    world.grows = world.any_changes = false;
    world.lost = 0.2 * random.unit();
    world.late = 0.3 * random.unit();
    world.struck = 0.6;
    world.duels = true;
    world.struck_at_promises = 0.6 * random.unit();
    replica.entries_per_append_max = 1;
    replica.election_timeout = milliseconds(150 + random.below(100));
    replica.heartbeat = replica.election_timeout / 5;
  }
  world.drains = sometimes(4);
  world.drained_for_good = random.chance(0.5);
  return world;
}

namespace {

const std::vector<Part<LogWorldOptions>>& parts() {
  using Log = LogWorldOptions;
  static const std::vector<Part<Log>> all{
      {"crashes", [](Log& log) { log.crashes = 0; }},
      {"disks_lost", [](Log& log) { log.disks_lost = 0; }},
      {"partitions", [](Log& log) { log.partitions = 0; }},
      {"cuts", [](Log& log) { log.cuts = 0; }},
      {"pauses", [](Log& log) { log.pauses = 0; }},
      {"full_disks", [](Log& log) { log.disks_full = 0; }},
      {"rot", [](Log& log) { log.rots = 0; }},
      {"transfers", [](Log& log) { log.transfers = 0; }},
      {"drains", [](Log& log) { log.drains = 0; }},
      {"growth", [](Log& log) { log.grows = false; }},
      {"changes", [](Log& log) { log.any_changes = false; }},
      {"aim", [](Log& log) { log.aim = 0; }},
      {"struck_at_promises", [](Log& log) { log.struck_at_promises = 0; }},
      {"struck", [](Log& log) { log.struck = 0; }},
      {"lost", [](Log& log) { log.lost = 0; }},
      {"late", [](Log& log) { log.late = 0; }},
      {"repeated", [](Log& log) { log.repeated = 0; }},
      {"drift", [](Log& log) { log.drift = 0; }},
      {"slow_disks", [](Log& log) { log.slow_disks = false; }},
      {"snapshots", [](Log& log) { log.compact_every = 0; }},
      {"other_clients", [](Log& log) { log.clients = 1; }},
  };
  return all;
}

}  // namespace

const PartNames& parts_of_log() {
  static const PartNames names = names_of(parts());
  return names;
}

ChaosResult log_chaos(std::uint64_t seed, Planted planted, bool trace, const Case& about) {
  ChaosResult result;
  result.seed = seed;
  LogWorldOptions options = log_world(seed);
  leave_out(about, parts(), options);
  if (about.tasks_max > 0) options.commands = std::min(options.commands, about.tasks_max);
  options.replica.planted = planted;
  options.trace = trace;
  LogWorld world(options);
  try {
    world.run();
  } catch (const std::exception& error) {
    result.violation = error.what();
  }
  result.events = world.events;
  result.trace_hash = world.trace_hash;
  result.seen = world.seen;
  return result;
}

}  // namespace dag::sim
