#pragma once
// Which process runs a task that has become ready. Decides by earliest predicted finish among a few
// candidates, or without asking anyone where asking would cost more than it gains. What is predicted and
// gossiped comes from outside; lending the row is the home's, which device of the process takes it is the
// process's.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "libdag/base/random.hpp"
#include "libdag/base/result.hpp"
#include "libdag/base/time.hpp"
#include "libdag/placement/misfit.hpp"

namespace dag {

/// An input of the task: how large, and which processes have it.
struct PlacementInput {
  std::uint64_t size_bytes = 0;
  std::vector<ProcessId> holders;
};
std::uint64_t missing_bytes(const std::vector<PlacementInput>& inputs, ProcessId process);

/// What is known of a process that might run it. All but our own is gossip, a few heartbeats old.
struct PlacementCandidate {
  NodeDevices node;
  /// Until a lane gets to it: the gossiped backlog over the lanes.
  Duration wait{0};
  /// Predicted on its kind of device; empty when nothing like it ever ran.
  std::optional<Duration> run = std::nullopt;
  /// To it, as measured.
  double bandwidth_bytes_per_second = 1e9;
};

struct PlacementQuestion {
  TaskNeeds needs;
  std::vector<PlacementInput> inputs;
  /// Between here and another process; zero where there is no other.
  Duration round_trip{0};
  /// The process that asks.
  PlacementCandidate here;
  std::vector<PlacementCandidate> others;
};

enum class PlacementRule : std::uint8_t {
  short_run,        ///< runs here: over before another process could have answered
  inputs_here,      ///< runs here: all inputs are here and so, nearly, is a free lane
  earliest_finish,  ///< the scores decided
};
std::string_view name(PlacementRule rule);

struct PlacementScore {
  ProcessId process;
  Duration wait{0};
  Duration transfer{0};  ///< of missing inputs, and for another process the round trip
  Duration run{0};
  Duration finish{0};
  /// Some may pass (it only has to wait); with one for ever it is no candidate.
  std::vector<Misfit> misfits;
};

struct PlacementChoice {
  ProcessId process;
  PlacementRule rule = PlacementRule::earliest_finish;
  /// Of all that were considered, us first; empty when nobody was asked.
  std::vector<PlacementScore> scores;
};

/// Runs shorter than this many round trips stay where they became ready.
inline constexpr int short_run_round_trips = 4;

/// needs_impossible when none of those named could ever run it; the caller may then ask all others.
Result<PlacementChoice> choose_process(const PlacementQuestion& question);

/// Whom to consider besides ourselves: who holds the most input bytes (up to `holders_max`), and two others
/// at random. Sorted by id; never `here`. `members` are those that are up and not suspected, in any order.
inline constexpr std::size_t placement_holders_max = 4;
inline constexpr std::size_t placement_sampled = 2;
std::vector<ProcessId> whom_to_consider(ProcessId here, const std::vector<PlacementInput>& inputs,
                                        const std::vector<ProcessId>& members, Random& random);

}  // namespace dag
