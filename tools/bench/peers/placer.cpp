// Not a peer: a part of libdag, the placer of its homes, measured alone.

#include <string>

#include "libdag/home/finish_placer.hpp"
#include "tools/bench/peers/peer.hpp"

namespace dag::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t lanes_each = 16;

/// A cluster as gossip tells of it: some have queues, some have free lanes.
std::vector<LifeLoad> loads_of(const std::vector<Life>& lives) {
  Random random(18);
  std::vector<LifeLoad> loads;
  for (const Life life : lives) {
    const auto ready = static_cast<std::uint32_t>(random.below(40));
    const std::uint32_t free = ready < 20 ? lanes_each - ready / 2 : 0;
    constexpr std::uint64_t memory_bytes = std::uint64_t{64} << 30;
    loads.push_back({life,
                     {life.process, {{"cpu", {lanes_each, 0, memory_bytes}, {free, 0, memory_bytes}}}},
                     lanes_each,
                     {free, free > 0 ? 0 : ready},
                     Duration{0}});
  }
  return loads;
}

double seconds_each(std::uint64_t decisions, const auto& decide) {
  for (std::uint64_t i = 0; i < decisions / 10; ++i) decide(i);
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < decisions; ++i) decide(i);
  return watch.seconds() / static_cast<double>(decisions);
}

}  // namespace

Figures measure(const Request& request) {
  if (request.workload != "placement") throw UnknownWorkload(request);
  const std::uint64_t decisions = request.number("decisions", 100'000);
  std::vector<Life> lives;
  for (std::uint32_t node = 1; node <= request.number("nodes", 256); ++node) {
    lives.push_back({ProcessId{node << 16}, Incarnation{1}});
  }
  const Life self = lives[lives.size() / 3];
  FinishPlacer placer(1);
  placer.on_loads(loads_of(lives));
  const std::vector<std::string> names = {"load", "tokenize", "embed", "reduce"};
  const std::string long_name = "train";
  for (int i = 0; i < 100; ++i) {
    for (const std::string& name : names) placer.ran(name, 20us);
    placer.ran(long_name, 30ms);
  }
  const Policy policy;
  std::uint64_t elsewhere = 0, asked = 0;

  Figures figures;
  figures.numbers["stays"] = seconds_each(decisions, [&](std::uint64_t i) {
    asked += placer.wants_to_place(names[i % names.size()], policy, true) ? 1 : 0;
  });
  std::vector<PlacementInput> inputs = {{std::uint64_t{1} << 20, {ProcessId{}}}};
  figures.numbers["scores"] = seconds_each(decisions, [&](std::uint64_t i) {
    inputs[0].holders[0] = lives[i * 7 % lives.size()].process;
    const bool wanted = placer.wants_to_place(long_name, policy, false);
    const PlacedAttempt placed =
        placer.place_attempt({TaskId{0, 1}, long_name, policy, inputs, false}, lives, self);
    elsewhere += wanted && placed.at != self ? 1 : 0;
  });
  // Otherwise the measurement would be of something else.
  if (asked != 0 || elsewhere == 0) throw std::runtime_error("the placer does not decide as expected");
  return figures;
}

}  // namespace dag::bench
