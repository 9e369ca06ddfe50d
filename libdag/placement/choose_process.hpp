#pragma once
// Which process runs a task that has become ready. Decides by earliest predicted finish among a few
// candidates, or without asking anyone where asking would cost more than it gains. What is predicted and
// gossiped comes from outside; lending the row is the home's, which device of the process takes it is the
// process's.
//
// Asked for each ready task that is long enough: a decision allocates nothing. Its reasons are made for those
// who read them, by scores_of().

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

/// An input of the task: how large, and which processes have it.
struct PlacementInput {
  std::uint64_t size_bytes = 0;
  std::vector<ProcessId> holders;
};
std::uint64_t missing_bytes(std::span<const PlacementInput> inputs, ProcessId process);

/// What is known of a process that might run it. All but our own is gossip, a few heartbeats old.
struct PlacementCandidate {
  const NodeDevices* node = nullptr;  ///< not null; of whoever asks
  /// Until a lane gets to it: the gossiped backlog over the lanes.
  Duration wait{0};
  /// Predicted on its kind of device; empty when nothing like it ever ran.
  std::optional<Duration> run = std::nullopt;
  /// To it, as measured.
  double bandwidth_bytes_per_second = 1e9;
};

struct PlacementQuestion {
  TaskNeeds needs;
  std::span<const PlacementInput> inputs;
  /// Between here and another process; zero where there is no other.
  Duration round_trip{0};
  /// The process that asks.
  PlacementCandidate here;
  std::span<const PlacementCandidate> others;
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
};

/// Runs shorter than this many round trips stay where they became ready.
inline constexpr int short_run_round_trips = 4;

/// The rule by which the task stays without a look at others; of the question, `others` is not read.
std::optional<PlacementRule> stays_here(const PlacementQuestion& question);
/// needs_impossible when none of those named could ever run it; the caller may then ask all others.
Result<PlacementChoice> choose_process(const PlacementQuestion& question);
/// What the earliest finish was chosen from: of all that were considered, us first.
std::vector<PlacementScore> scores_of(const PlacementQuestion& question);

/// Whom to consider besides ourselves: who holds the most input bytes (up to `holders_max`), and two others
/// at random. Places in `members`, ascending; never that of `here`. `members` are those that are up and not
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
