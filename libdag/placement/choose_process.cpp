#include "libdag/placement/choose_process.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace dag {

namespace {

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

PlacementScore score(const PlacementQuestion& question, const PlacementCandidate& candidate,
                     Duration unknown_run) {
  const ProcessId process = candidate.node.process;
  PlacementScore score{.process = process, .misfits = misfits(question.needs, candidate.node)};
  score.wait = clamped(candidate.wait);
  score.transfer =
      transfer_time(missing_bytes(question.inputs, process), candidate.bandwidth_bytes_per_second);
  if (process != question.here.node.process) score.transfer += clamped(question.round_trip);
  score.run = clamped(candidate.run.value_or(unknown_run));
  score.finish = score.wait + score.transfer + score.run;
  return score;
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

Error impossible(const std::vector<PlacementScore>& scores) {
  std::string reasons;
  for (const auto& candidate : scores) {
    reasons +=
        (reasons.empty() ? "" : "\n") + to_string(candidate.process) + " " + to_string(candidate.misfits);
  }
  return Error{.code = ErrorCode::needs_impossible,
               .what = "no process that was considered could ever run the task",
               .cause = reasons};
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

std::uint64_t missing_bytes(const std::vector<PlacementInput>& inputs, ProcessId process) {
  std::uint64_t sum = 0;
  for (const auto& input : inputs) {
    if (!has(input.holders, process)) sum += input.size_bytes;
  }
  return sum;
}

Result<PlacementChoice> choose_process(const PlacementQuestion& question) {
  const PlacementCandidate& here = question.here;
  const ProcessId self = here.node.process;
  if (!never_fits(misfits(question.needs, here.node))) {
    if (here.run && *here.run < short_run_round_trips * question.round_trip) {
      return PlacementChoice{self, PlacementRule::short_run, {}};
    }
    const bool inputs_here =
        std::all_of(question.inputs.begin(), question.inputs.end(),
                    [&](const PlacementInput& input) { return has(input.holders, self); });
    if (inputs_here && (here.wait < question.round_trip || question.others.empty())) {
      return PlacementChoice{self, PlacementRule::inputs_here, {}};
    }
  }

  const Duration unknown_run = least_known_run(question);
  PlacementChoice choice{self, PlacementRule::earliest_finish, {score(question, here, unknown_run)}};
  for (const auto& other : question.others) choice.scores.push_back(score(question, other, unknown_run));
  const PlacementScore* best = nullptr;
  for (const auto& candidate : choice.scores) {
    if (never_fits(candidate.misfits)) continue;
    // On a tie we stay; between others the lower id, so that the order of the question does not matter.
    const auto key = [&](const PlacementScore& one) {
      return std::make_tuple(one.finish, one.process != self, one.process);
    };
    if (!best || key(candidate) < key(*best)) best = &candidate;
  }
  if (!best) return impossible(choice.scores);
  choice.process = best->process;
  return choice;
}

std::vector<ProcessId> whom_to_consider(ProcessId here, const std::vector<PlacementInput>& inputs,
                                        const std::vector<ProcessId>& members, Random& random) {
  std::vector<ProcessId> candidates(members);
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  std::erase(candidates, here);

  std::map<ProcessId, std::uint64_t> held;
  for (const auto& input : inputs) {
    for (const ProcessId holder : input.holders) held[holder] += input.size_bytes;
  }
  const auto bytes_of = [&](ProcessId process) {
    const auto found = held.find(process);
    return found == held.end() ? std::uint64_t{0} : found->second;
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](ProcessId a, ProcessId b) { return bytes_of(a) > bytes_of(b); });
  const auto holders =
      static_cast<std::size_t>(std::find_if(candidates.begin(), candidates.end(),
                                            [&](ProcessId process) { return bytes_of(process) == 0; }) -
                               candidates.begin());
  const std::size_t kept = std::min(holders, placement_holders_max);
  // Two at random of all the rest (the power of two choices: Mitzenmacher, 2001).
  std::size_t chosen = kept;
  for (; chosen < kept + placement_sampled && chosen < candidates.size(); ++chosen) {
    std::swap(candidates[chosen], candidates[chosen + random.below(candidates.size() - chosen)]);
  }
  candidates.resize(chosen);
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

}  // namespace dag
