#include "libdag/placement/choose_process.hpp"

#include <algorithm>
#include <utility>

namespace dag {

namespace {

constexpr std::uint32_t nowhere = 0xFFFFFFFF;
/// Longer than any task, and far from where sums overflow.
constexpr Duration longest = std::chrono::hours(24 * 365 * 10);

bool has(const std::vector<ProcessId>& processes, ProcessId process) {
  return std::find(processes.begin(), processes.end(), process) != processes.end();
}

Duration clamped(Duration duration) { return std::clamp(duration, Duration{0}, longest); }

Duration transfer_time(std::uint64_t bytes, double bytes_per_second) {
  if (bytes == 0) return Duration{0};
  if (!(bytes_per_second > 0)) return longest;
  const double seconds = static_cast<double>(bytes) / bytes_per_second;
  const double most = std::chrono::duration<double>(longest).count();
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::min(seconds, most)));
}

/// A score without the reasons against it.
struct Finish {
  Duration wait, transfer, run;
  Duration sum() const { return wait + transfer + run; }
};

Finish finish_at(const PlacementQuestion& question, const PlacementCandidate& candidate,
                 Duration unknown_run) {
  const ProcessId process = candidate.node->process;
  Duration transfer =
      transfer_time(missing_bytes(question.inputs, process), candidate.bandwidth_bytes_per_second);
  if (process != question.here.node->process) transfer += clamped(question.round_trip);
  return {clamped(candidate.wait), transfer, clamped(candidate.run.value_or(unknown_run))};
}

// A kind of device nothing ran on yet is taken to be as fast as the fastest one known: it has to be tried to
// be known.
Duration least_known_run(const PlacementQuestion& question) {
  std::optional<Duration> least = question.here.run;
  for (const auto& other : question.others) {
    if (other.run && (!least || *other.run < *least)) least = other.run;
  }
  return least.value_or(Duration{0});
}

Error impossible(const PlacementQuestion& question) {
  std::string reasons;
  for (const auto& candidate : scores_of(question)) {
    reasons +=
        (reasons.empty() ? "" : "\n") + to_string(candidate.process) + " " + to_string(candidate.misfits);
  }
  return Error{.code = ErrorCode::needs_impossible,
               .what = "no candidate process could ever run the task",
               .cause = reasons};
}

bool all_inputs_here(const PlacementQuestion& question) {
  return std::all_of(question.inputs.begin(), question.inputs.end(), [&](const PlacementInput& input) {
    return has(input.holders, question.here.node->process);
  });
}

std::uint32_t place_of(ProcessId process, std::span<const Life> members) {
  const auto at = std::lower_bound(members.begin(), members.end(), process,
                                   [](Life member, ProcessId wanted) { return member.process < wanted; });
  const bool found = at != members.end() && at->process == process;
  return found ? static_cast<std::uint32_t>(at - members.begin()) : nowhere;
}

/// The processes among `members` that hold most of the inputs' bytes.
Considered largest_holders(ProcessId here, std::span<const PlacementInput> inputs,
                           std::span<const Life> members) {
  struct Holder {
    std::uint32_t place;
    std::uint64_t bytes;
  };
  // A process beyond the first 64 holders has few of many inputs.
  std::array<Holder, 64> holders;
  std::size_t count = 0;
  for (const PlacementInput& input : inputs) {
    if (input.size_bytes == 0) continue;
    for (const ProcessId process : input.holders) {
      const std::uint32_t place = process == here ? nowhere : place_of(process, members);
      if (place == nowhere) continue;
      Holder* const end = holders.data() + count;
      Holder* const found = std::find_if(holders.data(), end, [&](Holder one) { return one.place == place; });
      if (found != end) {
        found->bytes += input.size_bytes;
      } else if (count < holders.size()) {
        holders[count++] = {place, input.size_bytes};
      }
    }
  }
  Considered chosen;
  const auto kept = holders.begin() + static_cast<std::ptrdiff_t>(std::min(count, placement_holders_max));
  std::partial_sort(
      holders.begin(), kept, holders.begin() + static_cast<std::ptrdiff_t>(count),
      [](Holder a, Holder b) { return std::make_pair(b.bytes, a.place) < std::make_pair(a.bytes, b.place); });
  for (auto one = holders.begin(); one != kept; ++one) chosen.places[chosen.count++] = one->place;
  return chosen;
}

}  // namespace

std::string_view name(PlacementRule rule) {
  switch (rule) {
    case PlacementRule::short_run:
      return "short";
    case PlacementRule::inputs_here:
      return "inputs here";
    case PlacementRule::earliest_finish:
      return "earliest finish";
  }
  return "unknown";
}

std::uint64_t missing_bytes(std::span<const PlacementInput> inputs, ProcessId process) {
  std::uint64_t sum = 0;
  for (const auto& input : inputs) {
    if (!has(input.holders, process)) sum += input.size_bytes;
  }
  return sum;
}

std::optional<PlacementRule> stays_here(const PlacementQuestion& question) {
  const PlacementCandidate& here = question.here;
  if (never_fits(question.needs, *here.node)) return std::nullopt;
  if (here.run && *here.run < short_run_round_trips * question.round_trip) return PlacementRule::short_run;
  if (here.wait < question.round_trip && all_inputs_here(question)) return PlacementRule::inputs_here;
  return std::nullopt;
}

Result<PlacementChoice> choose_process(const PlacementQuestion& question) {
  const ProcessId self = question.here.node->process;
  if (const auto rule = stays_here(question)) return PlacementChoice{self, *rule};
  const bool self_fits = !never_fits(question.needs, *question.here.node);
  if (self_fits && question.others.empty() && all_inputs_here(question)) {
    return PlacementChoice{self, PlacementRule::inputs_here};
  }
  const Duration unknown_run = least_known_run(question);
  const PlacementCandidate* best = nullptr;
  Duration best_finish{0};
  if (self_fits) {
    best = &question.here;
    best_finish = finish_at(question, question.here, unknown_run).sum();
  }
  for (const PlacementCandidate& other : question.others) {
    if (never_fits(question.needs, *other.node)) continue;
    const Duration finish = finish_at(question, other, unknown_run).sum();
    // On a tie we stay; between others the lower id, so that the order of the question does not matter.
    const bool better =
        best == nullptr || finish < best_finish ||
        (finish == best_finish && best != &question.here && other.node->process < best->node->process);
    if (!better) continue;
    best = &other;
    best_finish = finish;
  }
  if (best == nullptr) return impossible(question);
  return PlacementChoice{best->node->process, PlacementRule::earliest_finish};
}

std::vector<PlacementScore> scores_of(const PlacementQuestion& question) {
  std::vector<PlacementScore> scores;
  const Duration unknown_run = least_known_run(question);
  const auto add = [&](const PlacementCandidate& candidate) {
    const Finish finish = finish_at(question, candidate, unknown_run);
    scores.push_back({candidate.node->process, finish.wait, finish.transfer, finish.run, finish.sum(),
                      misfits(question.needs, *candidate.node)});
  };
  add(question.here);
  for (const PlacementCandidate& other : question.others) add(other);
  return scores;
}

Considered whom_to_consider(ProcessId here, std::span<const PlacementInput> inputs,
                            std::span<const Life> members, Random& random) {
  Considered chosen = largest_holders(here, inputs, members);
  // Two at random of all the rest (the power of two choices: Mitzenmacher, 2001). `taken` are the places that
  // are not drawn, ascending: a number drawn below the count of the others skips them.
  std::array<std::uint32_t, placement_holders_max + placement_sampled + 1> taken{};
  std::uint32_t taken_count = 0;
  const auto take = [&](std::uint32_t place) {
    std::uint32_t at = taken_count++;
    for (; at > 0 && taken[at - 1] > place; --at) taken[at] = taken[at - 1];
    taken[at] = place;
  };
  for (const std::uint32_t place : chosen.all()) take(place);
  if (const std::uint32_t self = place_of(here, members); self != nowhere) take(self);
  for (std::size_t draw = 0; draw < placement_sampled && taken_count < members.size(); ++draw) {
    auto place = static_cast<std::uint32_t>(random.below(members.size() - taken_count));
    for (std::uint32_t i = 0; i < taken_count && taken[i] <= place; ++i) ++place;
    take(place);
    chosen.places[chosen.count++] = place;
  }
  std::sort(chosen.places.begin(), chosen.places.begin() + chosen.count);
  return chosen;
}

}  // namespace dag
