#pragma once
// Chooses the process that runs a task which has become ready: by earliest predicted finish
// among a few candidates, or without comparison where that would cost more than it gains.
// Predictions and gossip come from outside; the home lends the row, and the chosen process picks
// the device.
//
// Called for each ready task that is long enough, so a decision allocates nothing. scores_of() makes the
// reasons, for those who read them.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "libdag/base/random.hpp"
#include "libdag/base/result.hpp"
#include "libdag/base/time.hpp"
#include "libdag/placement/misfit.hpp"

namespace dag {

/// An input of the task: its size, and the processes that have it.
struct PlacementInput {
  std::uint64_t size_bytes = 0;
  std::vector<ProcessId> holders;
};
std::uint64_t missing_bytes(std::span<const PlacementInput> inputs, ProcessId process);

/// A process that might run the task. All but our own data is gossip, a few heartbeats old.
struct PlacementCandidate {
  const NodeDevices* node = nullptr;  ///< not null; the caller keeps it
  /// Time until a lane is free: the gossiped backlog over the lanes.
  Duration wait{0};
  /// Predicted on its kind of device; empty when no task of the class ran there.
  std::optional<Duration> run = std::nullopt;
  /// Measured bandwidth to it.
  double bandwidth_bytes_per_second = 1e9;
};

struct PlacementQuestion {
  TaskNeeds needs;
  std::span<const PlacementInput> inputs;
  /// Between this process and another; zero where there is no other.
  Duration round_trip{0};
  /// The process that places the task.
  PlacementCandidate here;
  std::span<const PlacementCandidate> others;
};

enum class PlacementRule : std::uint8_t {
  short_run,        ///< runs here: it ends before another process could answer
  inputs_here,      ///< runs here: all inputs are here and so, nearly, is a free lane
  earliest_finish,  ///< the scores decided
};
std::string_view name(PlacementRule rule);

struct PlacementScore {
  ProcessId process;
  Duration wait{0};
  Duration transfer{0};  ///< of missing inputs; for another process with the round trip
  Duration run{0};
  Duration finish{0};
  /// Some may pass (the task only has to wait); with one that is for ever the process is no candidate.
  std::vector<Misfit> misfits;
};

struct PlacementChoice {
  ProcessId process;
  PlacementRule rule = PlacementRule::earliest_finish;
};

/// Runs shorter than this many round trips stay where they became ready.
inline constexpr int short_run_round_trips = 4;

/// The rule by which the task stays without a comparison; does not read `others`.
std::optional<PlacementRule> stays_here(const PlacementQuestion& question);
/// needs_impossible when no given process could ever run it; the caller may then ask all others.
Result<PlacementChoice> choose_process(const PlacementQuestion& question);
/// The scores of an earliest finish: of all candidates, this process first.
std::vector<PlacementScore> scores_of(const PlacementQuestion& question);

/// Candidates besides this process: the holders of the most input bytes (up to `holders_max`), and two others
/// at random. Ascending places in `members`, without `here`. `members` are the processes that are up and not
/// suspected, ascending.
inline constexpr std::size_t placement_holders_max = 4;
inline constexpr std::size_t placement_sampled = 2;
struct Considered {
  std::array<std::uint32_t, placement_holders_max + placement_sampled> places{};
  std::uint32_t count = 0;
  std::span<const std::uint32_t> all() const { return std::span(places).first(count); }
};
Considered whom_to_consider(ProcessId here, std::span<const PlacementInput> inputs,
                            std::span<const Life> members, Random& random);

}  // namespace dag
