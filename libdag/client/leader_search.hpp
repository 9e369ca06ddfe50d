#pragma once
// Searches the leader of a job whose last leader no longer leads it. Decides which node is asked next, and
// when the search is given up. The callers (nodes/client/remote_client, nodes/client/remote_cluster) ask the
// nodes and report their answers and the time.
//
// A round asks each node once, nodes that others named first. Nodes may name each other in a circle, or all
// wait for an election, so a pause parts the rounds. The search ends with a leader or at a limit.

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "dag/error.hpp"
#include "libdag/base/time.hpp"

namespace dag::detail {

struct SearchLimits {
  /// Time without any answer.
  Duration silent = std::chrono::seconds(30);
  /// Time in which all answers say that the job is unknown. Zero: one round is enough.
  Duration unknown = std::chrono::seconds(5);
  /// Time in which some nodes know the job and none leads it.
  Duration leaderless = std::chrono::seconds(60);
  Duration pause = std::chrono::milliseconds(100);
};

struct AskNode {
  std::string address;
};
struct WaitUntil {
  Instant at;
};
struct GiveUp {
  Error why;
};
using SearchStep = std::variant<AskNode, WaitUntil, GiveUp>;

class LeaderSearch {
 public:
  /// `why`: the reason for the search, and the error when it is given up, with the last answer as its cause.
  LeaderSearch(SearchLimits limits, Error why, Instant now);

  /// Adds nodes of the cluster, in the order of asking. Nodes that are known already keep their place.
  void know(const std::vector<std::string>& nodes);
  SearchStep next(Instant now);

  // Answers of nodes that do not lead the job. A node that did not answer is reported as absent.
  void on_elsewhere(const Error& why, const std::string& leader, Instant now);  ///< empty: names none
  void on_unknown(const Error& why, Instant now);

 private:
  bool unknown_for_good(Instant now);
  GiveUp give_up(std::string cause) const;
  /// The error, with the last answer as its cause.
  GiveUp give_up() const;

  const SearchLimits limits_;
  const Error first_;
  std::vector<std::string> nodes_;
  std::set<std::string> asked_;       ///< in this round
  std::optional<std::string> named_;  ///< the newest leader named that was not asked since
  bool known_in_round_ = false, unknown_in_round_ = false;
  std::optional<Instant> next_round_;
  Instant heard_;  ///< or the begin of the search
  std::optional<Instant> unknown_since_, leaderless_since_;
  Error newest_answer_;
};

}  // namespace dag::detail
