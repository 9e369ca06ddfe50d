#include "libdag/consensus/reconfiguration.hpp"

#include <cmath>

#include "libdag/base/random.hpp"

namespace dag::consensus {
namespace {

void insert(std::vector<Seat>& seats, const Seat& seat) {
  seats.insert(std::lower_bound(seats.begin(), seats.end(), seat), seat);
}

}  // namespace

std::vector<Seat> ranked(std::uint64_t log, const std::vector<Candidate>& candidates) {
  std::vector<std::pair<double, Seat>> scored;
  for (const Candidate& one : candidates) {
    Random of_both(Random(log).next() ^ Random(~std::uint64_t{one.seat.node.value}).next());
    const double u = (static_cast<double>(of_both.next() >> 12) + 0.5) * 0x1.0p-52;  // in (0, 1)
    scored.emplace_back(one.weight / std::log(u), one.seat);  // the best is the most negative
  }
  std::sort(scored.begin(), scored.end());
  std::vector<Seat> seats;
  for (const auto& [score, seat] : scored) seats.push_back(seat);
  return seats;
}

std::optional<Configuration> next_change(const Replica& leader, const std::vector<Seat>& alive,
                                         const std::vector<Seat>& leaving, std::size_t copies_wanted,
                                         Instant now) {
  if (!leader.may_change()) return std::nullopt;
  const auto leaves = [&](const Seat& seat) {
    return std::find(leaving.begin(), leaving.end(), seat) != leaving.end();
  };
  const auto is_alive = [&](const Seat& seat) {
    return seat == leader.self() || leaves(seat) ||
           (std::find(alive.begin(), alive.end(), seat) != alive.end() && !leader.gives_up(seat, now));
  };
  const auto stays = [&](const Seat& seat) { return is_alive(seat) && !leaves(seat); };
  Configuration to = leader.configuration();
  if (std::erase_if(to.learners, [&](const Seat& seat) { return !stays(seat); }) > 0) return to;

  const auto count = [](const Configuration& of, const auto& which) {
    return static_cast<std::size_t>(std::count_if(of.voters.begin(), of.voters.end(), which));
  };
  const auto if_it_lives = [&](const Configuration& changed) {
    return count(changed, is_alive) >= changed.quorum() ? std::optional(changed) : std::nullopt;
  };
  const std::size_t staying_voters = count(to, stays);
  if (to.voters.size() > copies_wanted && staying_voters >= copies_wanted) {
    // Remove a dead seat, else a leaving one, else the last in the ranking; the leader last of all.
    const auto worth = [&](const Seat& seat) {
      if (!is_alive(seat)) return std::size_t{0};
      if (leaves(seat)) return std::size_t{1};
      if (seat == leader.self()) return alive.size() + 3;
      return static_cast<std::size_t>(alive.end() - std::find(alive.begin(), alive.end(), seat)) + 2;
    };
    const auto worst = std::min_element(to.voters.begin(), to.voters.end(),
                                        [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
    if (*worst == leader.self() && leaves(*worst)) return std::nullopt;
    to.voters.erase(worst);
    return if_it_lives(to);
  }
  if (staying_voters >= copies_wanted) {
    if (to.learners.empty()) return std::nullopt;
    to.learners.clear();  // No longer needed.
    return to;
  }
  for (const Seat learner : leader.configuration().learners) {
    if (!leader.hears(learner, now) || leader.match(learner) < leader.settled()) continue;
    std::erase(to.learners, learner);
    insert(to.voters, learner);
    return if_it_lives(to);
  }
  if (staying_voters + to.learners.size() >= copies_wanted) return std::nullopt;  // Learners are catching up.
  for (const Seat& seat : alive) {
    if (to.has(seat)) continue;
    insert(to.learners, seat);
    return to;
  }
  return std::nullopt;
}

}  // namespace dag::consensus
