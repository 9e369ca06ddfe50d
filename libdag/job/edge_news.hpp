#pragma once
// News from a lane to lanes of other shards that a row ended, past both homes: the content of
// message::PredecessorEnded, for the plain case alone. This file decides which ends are news, and what a lane
// may do with news that it gets. The transport (a ring, or a list where the other shard is in this process)
// lies elsewhere.
//
// Scope: the quick end (lane_report.hpp) of a row with successors in other shards, over open routes, together
// with its output. A large output is not copied: the process there reads it where it lies
// (actors/lanes/shared_outputs.hpp); if it cannot, no news is sent. `Row::told` says that all those shards
// have the news, and the home, which hears of the end later, sends nothing. Otherwise the home tells them, as
// it tells all other ends and all changes.
//
// Order. A home counts its news from 1 (`change`); news of a lane counts as 0, because it is always the first
// of a row in an epoch: the home tells of a row that starts anew (`Row::told_by_home`). A home that hears
// that a row has not ended after all marks its ghost likewise, and lanes leave that ghost alone.
//
// The edges of a ghost are satisfied by the thread that changes its word from waiting, once. A lane does so
// in two steps, so that the output is there before the end shows; a home with news of the same row waits for
// those few instructions (inside the gate).
//
// No end is lost: news of lanes is in the ring's memory, or on a link, which delivers while both processes
// live, or has arrived; or one process dies, and then the shard there gets a new home that is told again; or
// a ring is given up while both live, and then the home takes back `told`. No end is of a wrong epoch: both
// epochs are compared inside the gate, and a home that learns of a new epoch closes the gate.

#include <optional>
#include <utility>

#include "libdag/job/messages.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

/// A row of shard `from` finished, and rows of shard `shard` wait for it.
struct EdgeNews {
  JobId job;
  std::uint32_t shard = 0;
  Epoch epoch;  ///< of `shard`, as the teller knows it
  std::uint32_t from = 0;
  Epoch from_epoch;
  std::uint32_t task = 0;     ///< index in the job's graph
  std::uint32_t attempt = 0;  ///< number within from_epoch
  Blob value;                 ///< its output, if it has one
};

/// The same news as a message between homes. The digest of a larger output is left out.
message::PredecessorEnded as_message(EdgeNews news, std::size_t digest_bytes_max = digest_at_once_bytes_max);
/// News of a lane that came by a link as such a message. Nothing if a home sent it.
std::optional<EdgeNews> told_by_lane(message::PredecessorEnded& message);
/// For an output that could not be read where it lies: tasks that need it ask `owner`, its teller.
message::PredecessorEnded as_message_without(EdgeNews news, std::uint64_t size_bytes, Life owner);

/// Inside the gate, when a row has ended quickly and before its successors here are satisfied: tells the
/// other shards. `tell(const Route&, EdgeNews&&)` is false when it cannot be done, with this output or now.
template <class Tell>
void tell_others(RowTable& table, RowIndex row, std::uint32_t attempt, const Blob& output, Tell&& tell) {
  const std::span<const ShardIndex> shards = table.other_shards(row);
  Row& about = table[row];
  if (shards.empty() || about.told_by_home) return;
  const Routes& routes = table.routes();
  bool told = true;
  for (const ShardIndex shard : shards) {
    const Route& route = routes.to[shard];
    told = route.way != Way::closed &&
           tell(route, EdgeNews{routes.job, shard, route.epoch, routes.shard, routes.epoch, about.task,
                                attempt, output}) &&
           told;
  }
  about.told = told;
}

enum class Arrival : std::uint8_t {
  ended,       ///< the news ended the ghost; the lane reports it (LaneReport::ghosts)
  for_home,    ///< another epoch, or not the first news: goes on as a message
  false_news,  ///< no peer can mean this
};

/// Inside the gate: a lane applies news for this table's shard. `ready` and `decide` are called for rows that
/// owe something.
template <class Ready, class Decide>
Arrival end_ghost(RowTable& table, EdgeNews& news, RowIndex& ghost, Ready&& ready, Decide&& decide,
                  bool any_epoch = false) {
  const Routes& routes = table.routes();
  const Part& part = table.part(0);
  if (news.from >= routes.to.size() || news.task >= part.fragment->size()) return Arrival::false_news;
  if (news.attempt == 0 || news.attempt > Word::attempt_max) return Arrival::false_news;
  const bool these_epochs = news.epoch == routes.epoch && news.from_epoch == routes.to[news.from].epoch;
  if (!these_epochs && !any_epoch) return Arrival::for_home;
  ghost = part.row_of(news.task);
  if (ghost == no_row || !table[ghost].ghost) return Arrival::false_news;
  const Row& about = table[ghost];
  if (table.other_shards(ghost).front() != news.from || !about.ends_by_itself ||
      table.kind_of(about).returns != static_cast<bool>(news.value)) {
    return Arrival::false_news;
  }
  if (about.told_by_home) return Arrival::for_home;
  if (table.apply(ghost, EndArrived{news.attempt}).what != Do::run) return Arrival::for_home;
  if (news.value) table[ghost].output.store(std::move(news.value));
  table.apply(ghost, AttemptEnded{news.attempt, Outcome::finished});
  table.satisfy_local_strong(ghost, ready, decide);
  return Arrival::ended;
}

}  // namespace dag
