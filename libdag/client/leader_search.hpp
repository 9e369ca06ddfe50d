#pragma once
// Which node is asked next for a job that another one led until now, and when the search for its leader is
// given up. Decides only; who asks (nodes/client/remote_client, nodes/client/remote_cluster) says what came
// of it, and when.
//
// A round asks each node once, those first that others named. Nodes may name each other in a circle, or each
// wait for an election, so a pause parts the rounds. It ends: someone leads, or one of the limits is reached.

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "dag/error.hpp"
#include "libdag/base/time.hpp"

namespace dag::detail {

struct SearchLimits {
  /// No node has answered for so long.
  Duration silent = std::chrono::seconds(30);
  /// All that answer know nothing of the job for so long. Zero: one round of them is enough.
  Duration unknown = std::chrono::seconds(5);
  /// Some know the job, and none has led it for so long.
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
  /// `why` it is searched for: what is said if the search is given up, with what came of it as the cause.
  LeaderSearch(SearchLimits limits, Error why, Instant now);

  /// Nodes of the cluster, in the order in which they are asked. One that is known already stays where it is.
  void know(const std::vector<std::string>& nodes);
  SearchStep next(Instant now);

  // What a node answered that does not lead the job. One that did not answer is told by its absence.
  void on_elsewhere(const Error& why, const std::string& leader, Instant now);  ///< empty: none is named
  void on_unknown(const Error& why, Instant now);

 private:
  bool unknown_for_good(Instant now);
  GiveUp give_up(std::string cause) const;
  /// With what was answered last.
  GiveUp give_up() const;

  const SearchLimits limits_;
  const Error first_;
  std::vector<std::string> nodes_;
  std::set<std::string> asked_;       ///< in this round
  std::optional<std::string> named_;  ///< the newest leader named that was not asked since
  bool known_in_round_ = false, unknown_in_round_ = false;
  std::optional<Instant> next_round_;
  Instant heard_;  ///< or begun
  std::optional<Instant> unknown_since_, leaderless_since_;
  Error newest_answer_;
};

}  // namespace dag::detail
