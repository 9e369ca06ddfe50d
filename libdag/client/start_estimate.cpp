#include "libdag/client/start_estimate.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace dag::detail {
namespace {

/// Time that is left of a run. One that has taken longer than most may take as long again.
Duration left_of(Duration ran, Duration takes, const RunEstimate& known) {
  if (takes > ran) return takes - ran;
  return ran >= known.most && takes == known.most ? ran : Duration{0};
}

struct Busy {
  Duration ran;
  RunEstimate known;
};

/// When the task with that place begins, if each run takes as long as `length` of its estimate.
Duration begins_in(const std::vector<Busy>& busy, std::size_t idle, std::uint64_t place,
                   const RunEstimate& others, Duration RunEstimate::*length) {
  std::vector<Duration> free_in(idle, Duration{0});
  for (const Busy& lane : busy) free_in.push_back(left_of(lane.ran, lane.known.*length, lane.known));
  std::make_heap(free_in.begin(), free_in.end(), std::greater<>());
  for (std::uint64_t turn = 1; turn < place; ++turn) {
    std::pop_heap(free_in.begin(), free_in.end(), std::greater<>());
    free_in.back() += others.*length;
    std::push_heap(free_in.begin(), free_in.end(), std::greater<>());
  }
  return free_in.front();
}

}  // namespace

std::optional<StartEstimate> starts_in(const ProcessExplained& at, std::uint64_t place,
                                       const std::optional<RunEstimate>& its_own) {
  const std::optional<RunEstimate> others = at.runs ? at.runs : its_own;
  if (place == 0 || !others || at.lanes == 0) return std::nullopt;
  std::vector<Busy> busy;
  std::uint64_t runs = others->runs;
  for (const RunningNow& running : at.running) {
    if (running.given_up || busy.size() == at.lanes) continue;
    const RunEstimate known = running.usual.value_or(*others);
    runs = std::min(runs, known.runs);
    busy.push_back({running.ran, known});
  }
  const auto when = [&](Duration RunEstimate::*length) {
    return begins_in(busy, at.lanes - busy.size(), place, *others, length);
  };
  return StartEstimate{when(&RunEstimate::mean), when(&RunEstimate::least), when(&RunEstimate::most), runs};
}

}  // namespace dag::detail
