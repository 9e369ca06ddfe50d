#include "tools/chaos/partitions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "libdag/client/cluster.hpp"

namespace dag::chaos {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto cut_for = seconds(10);
/// A leader that hears no majority has stopped by then.
constexpr auto steps_down_within = seconds(3);
/// Then it says so, too.
constexpr auto says_so_within = seconds(6);
constexpr auto flap_every = milliseconds(500);
constexpr auto cut_looked_at_every = milliseconds(250);
constexpr auto going_within = seconds(60);
/// A job with less left would end before the cut does.
constexpr std::size_t left_min = 600;

ClusterOptions nodes_on(const Network& network) {
  ClusterOptions options;
  options.network = &network;
  return options;
}

}  // namespace

Partitions::Partitions(const Options& options, const std::filesystem::path& directory,
                       const std::filesystem::path& programs)
    : options_(options),
      network_(directory, node_count),
      cluster_(directory, programs, nodes_on(network_)),
      jobs_(directory, programs, options.tasks),
      random_(options.seed) {
  setenv("DAG_BEYOND_LOOPBACK", "1", 1);  // For us and the clients; nobody else is at the switch.
  if (!cluster_.gather(going_within)) throw std::runtime_error("the nodes do not find each other");
}

void Partitions::cycle() {
  get_going();
  if (jobs_.broken()) return;
  ++cycles_;
  const auto leader_before = leader();
  const Cut cut = next_cut(leader_before);
  ++kinds_[cut.kind()];
  const auto at = Clock::now();
  network_.cut(cut.deaf);
  watch(cut, leader_before);
  if (jobs_.running() && jobs_.longest_pause(at + cut_for / 2) >= cut_for / 2) rested_.push_back(cut.name);
  network_.heal();
  jobs_.time_next_outcome("next_outcome_healed_ms", Clock::now());
}

/// Each once before one comes again; rather one that leaves the leader with few.
Cut Partitions::next_cut(std::optional<std::uint32_t> leader) {
  if (cuts_.empty()) {
    cuts_ = all_cuts();
    std::shuffle(cuts_.begin(), cuts_.end(), random_);
  }
  auto next = cuts_.begin();
  if (leader && random_() % 2 == 0) {
    const auto aimed =
        std::find_if(next, cuts_.end(), [&](const Cut& cut) { return cut.side.contains(*leader); });
    if (aimed != cuts_.end()) next = aimed;
  }
  Cut cut = *next;
  cuts_.erase(next);
  return cut;
}

/// All nodes are there and see each other, and a job that will last has had outcomes since the last cut.
void Partitions::get_going() {
  const auto until = Clock::now() + going_within;
  while (!jobs_.broken()) {
    ended_themselves_ += cluster_.start_ended();
    const bool all_there = cluster_.gather(Clock::duration{0});
    jobs_.look_for(
        cut_looked_at_every);  // Behind that, which may take its time: what the job said a moment ago counts.
    if (Clock::now() > until) return jobs_.wrong("stuck: not all nodes and the job go on after a cut");
    if (!all_there) continue;  // A node that is on its way back takes no job.
    if (jobs_.running() && jobs_.left() < left_min) jobs_.finish();
    if (!jobs_.running())
      jobs_.begin(random_(), cluster_.address(static_cast<std::uint32_t>(random_() % node_count)));
    if (!jobs_.waits_for_outcome() && jobs_.getting_on()) return;
  }
}

Partitions::Words Partitions::words() {
  Words words;
  for (std::uint32_t node = 0; node < node_count; ++node) {
    const auto job = cluster_.job_at(node, jobs_.number());
    if (!job) continue;
    words[node] = {job->phase == JobPhase::starting || job->phase == JobPhase::running,
                   job->phase == JobPhase::no_quorum, job->counts.finished};
  }
  return words;
}

std::optional<std::uint32_t> Partitions::leader() {
  for (const auto& [node, word] : words()) {
    if (word.leads) return node;
  }
  return std::nullopt;
}

/// Removes the pairs whose first node has logged that the second is gone.
void Partitions::hear_who_is_gone(Unaware& unaware) {
  for (std::uint32_t node = 0; node < node_count; ++node) {
    for (const std::string& line : cluster_.more_said(node)) {
      const std::size_t end = line.find(" is gone: "), begin = line.rfind(" n", end);
      unsigned gone = 0;
      if (end != line.npos && begin != line.npos && std::sscanf(line.c_str() + begin, " n%u", &gone) == 1)
        for (Pairs& side : unaware) side.erase({node, gone});
    }
  }
}

Partitions::Unaware Partitions::unaware_of(const Cut& cut) {
  Unaware unaware;
  for (const std::uint32_t here : cut.side) {
    for (std::uint32_t there = 0; there < node_count; ++there) {
      if (cut.side.contains(there) || cut.flaps) continue;
      unaware[0].insert({here, there});
      unaware[1].insert({there, here});
    }
  }
  return unaware;
}

std::string Partitions::text_of(const Unaware& unaware) {
  std::string text;
  for (const Pairs& side : unaware) {
    for (const auto& [here, there] : side)
      text += (text.empty() ? "n" : ", n") + std::to_string(here) + " of n" + std::to_string(there);
  }
  return text;
}

/// Until it is to be healed.
void Partitions::watch(const Cut& cut, std::optional<std::uint32_t> leader) {
  const auto at = Clock::now();
  bool is_cut = true, leader_rests = false, leader_says_so = false;
  Words before;
  Clock::duration pause{0};
  bool may_wait_for_leases = false;
  Unaware unaware;
  hear_who_is_gone(unaware);  // Skips earlier lines.
  unaware = unaware_of(cut);
  for (auto flap_at = at + flap_every; jobs_.running() && Clock::now() - at < cut_for;) {
    if (cut.flaps && Clock::now() > flap_at) {
      is_cut = !is_cut;
      network_.cut(is_cut ? cut.deaf : Deaf{});
      flap_at += flap_every;
    }
    for (int part = 0; part < 10; ++part) {
      jobs_.look_for(cut_looked_at_every / 10);
      if (unaware == Unaware{}) continue;
      const Unaware unaware_before = unaware;
      hear_who_is_gone(unaware);
      const double after_ms = in_milliseconds(Clock::now() - at);
      for (std::size_t side = 0; side < unaware.size(); ++side) {
        if (unaware[side].empty() && !unaware_before[side].empty())
          detected_[side == 0 ? "cut_off_saw_others_gone_ms" : "detected_cut_off_ms"].push_back(after_ms);
      }
    }
    ended_themselves_ += cluster_.start_ended();
    if (jobs_.running()) {
      const auto longest = jobs_.longest_pause(at);
      // As long as it is the one that lasts.
      if (longest > pause) may_wait_for_leases = jobs_.rest_may_wait_for_leases();
      pause = longest;
    }
    if (!jobs_.running() || cut.side.empty()) continue;
    const auto since = Clock::now() - at;
    const Words now = words();
    check(cut, since, before, now);
    before = now;
    if (!leader || since < says_so_within) continue;
    leader_rests = std::any_of(now.begin(), now.end(), [&](const auto& one) {
      return one.second.leads && cut.side.contains(one.first) != cut.side.contains(*leader);
    });
    leader_says_so = now.contains(*leader) && now.at(*leader).no_quorum;
  }
  const std::string leases = may_wait_for_leases ? "_with_leases" : "";
  pauses_["longest_pause_" + cut.kind() + leases + "_ms"].push_back(in_milliseconds(pause));
  if (unaware != Unaware{}) undetected_.push_back(cut.name + ": " + text_of(unaware));
  if (!leader_rests) return;
  ++leaders_cut_off_;
  if (leader_says_so) {
    ++said_no_quorum_;
  } else {
    jobs_.wrong(cut.name + ": n" + std::to_string(*leader) + ", which led " + jobs_.number() +
                ", does not say that it has no quorum");
  }
}

/// Checks a split: one side at most goes on, and no node of the other settles anything.
void Partitions::check(const Cut& cut, Clock::duration since, const Words& before, const Words& now) {
  if (since < steps_down_within) return;
  std::set<bool> sides;
  for (const auto& [node, word] : now) {
    if (word.leads) sides.insert(cut.side.contains(node));
    const auto then = before.find(node);
    if (word.no_quorum && then != before.end() && then->second.no_quorum &&
        word.finished > then->second.finished)
      jobs_.wrong(cut.name + ": n" + std::to_string(node) + " settles without a majority");
  }
  if (sides.size() > 1) jobs_.wrong(cut.name + ": both sides lead " + jobs_.number());
}

nlohmann::json Partitions::report() const {
  nlohmann::json report{
      {"scenario", "partition"},
      {"seed", options_.seed},
      {"cycles", cycles_},
      {"cycles_by_kind", kinds_},
      {"leaders_cut_off", leaders_cut_off_},
      {"said_no_quorum", said_no_quorum_},
      {"nothing_settled_in_second_half_of", rested_},
      {"nodes_ended_themselves", ended_themselves_},
      {"failure_rate_below", cycles_ == 0 ? 1.0 : 1 - std::pow(0.05, 1 / static_cast<double>(cycles_))}};
  // From a split until each node of one side has logged each of the other as gone. A node that hears no other
  // doubts itself first, and is slow to log others as gone.
  for (const auto& [name, values] : detected_) report_spread(report, name, values);
  report["splits_not_seen_by"] = undetected_;
  for (const auto& [name, values] : pauses_) report_spread(report, name, values);
  jobs_.report(report);
  return report;
}

}  // namespace dag::chaos
