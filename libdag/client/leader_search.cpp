#include "libdag/client/leader_search.hpp"

#include <algorithm>

namespace dag::detail {

LeaderSearch::LeaderSearch(SearchLimits limits, Error why, Instant now)
    : limits_(limits), first_(std::move(why)), heard_(now) {}

void LeaderSearch::know(const std::vector<std::string>& nodes) {
  for (const std::string& node : nodes) {
    if (std::find(nodes_.begin(), nodes_.end(), node) == nodes_.end()) nodes_.push_back(node);
  }
}

SearchStep LeaderSearch::next(Instant now) {
  if (leaderless_since_ && now - *leaderless_since_ >= limits_.leaderless) {
    return give_up();
  }
  if (now - heard_ >= limits_.silent) return give_up("no other node answers");
  if (next_round_) {
    if (now < *next_round_) return WaitUntil{*next_round_};
    next_round_.reset();
    asked_.clear();
    known_in_round_ = unknown_in_round_ = false;
  }
  if (named_ && asked_.insert(*named_).second) {
    AskNode leader{*std::move(named_)};
    named_.reset();
    return leader;
  }
  for (const std::string& node : nodes_) {
    if (asked_.insert(node).second) return AskNode{node};
  }
  if (asked_.empty()) return GiveUp{first_};  // No node can be asked.
  if (unknown_for_good(now)) return give_up();
  next_round_ = now + limits_.pause;
  return WaitUntil{*next_round_};
}

/// At the end of a round. One node that knows the job is worth more than many that do not.
bool LeaderSearch::unknown_for_good(Instant now) {
  if (known_in_round_) {
    unknown_since_.reset();
  } else if (unknown_in_round_ && !unknown_since_) {
    unknown_since_ = now;
  }
  return unknown_since_ && now - *unknown_since_ >= limits_.unknown;
}

GiveUp LeaderSearch::give_up(std::string cause) const {
  Error why = first_;
  if (why.cause.empty() && cause != why.what) why.cause = std::move(cause);
  return {std::move(why)};
}

/// A node that has a copy and hears no majority knows the reason better than a node that lost a connection.
GiveUp LeaderSearch::give_up() const {
  if (newest_answer_.code == ErrorCode::no_quorum) return {newest_answer_};
  return give_up(newest_answer_.what);
}

void LeaderSearch::on_elsewhere(const Error& why, const std::string& leader, Instant now) {
  heard_ = now;
  known_in_round_ = true;
  if (!leaderless_since_) leaderless_since_ = now;
  newest_answer_ = why;
  if (!leader.empty()) named_ = leader;
}

void LeaderSearch::on_unknown(const Error& why, Instant now) {
  heard_ = now;
  newest_answer_ = why;
  unknown_in_round_ = true;
}

}  // namespace dag::detail
