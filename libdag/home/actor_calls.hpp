#pragma once
// The calls of the job actors of a home: which actor a call belongs to, which actors are saved together, and
// the order in which the calls of an actor run.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "libdag/graph/order.hpp"
#include "libdag/home/call_order.hpp"
#include "libdag/home/home_rows.hpp"

namespace dag {

class ActorCalls {
 public:
  struct Actor {
    std::uint32_t index = detail::none;  ///< in the graph
    std::uint32_t group = 0;             ///< the actors of a group are saved together, and lost together
    CallOrder calls;                     ///< the create task first; vanished ones are taken out
    std::size_t next = 0;                ///< first call that has not ended
    bool can_save = false;

    /// no_row: all have ended.
    RowIndex next_call() const { return next < calls.size() ? calls[next] : no_row; }
    /// no_row: none has.
    RowIndex last_ended() const { return next > 0 ? calls[next - 1] : no_row; }
  };

  ActorCalls(const HomeRows& rows, const detail::Fragment& graph, bool several_shards, PlantedInHome planted)
      : rows_(rows), graph_(graph), several_shards_(several_shards), planted_(planted) {}

  /// Adds the actors of the graph whose calls are ours. Their calls follow by add().
  void add_actors();
  /// `behind`: the calls that wait for the task that adds it.
  void add(RowIndex call, const std::set<RowIndex>& behind);
  /// The calls that can end only after `row` has: by edges, by tasks that rows became, by the order of calls.
  /// None of them has ended, so a recount finds the same ones when all of it is over.
  std::set<RowIndex> behind(RowIndex row);
  void erase(RowIndex call) { actors_[number_of(call)].calls.erase(call); }

  /// Passes the next call of the actor if it has ended; no_row: it has not, or there is none.
  RowIndex take_ended(std::uint32_t number);
  /// All calls are to be passed again.
  void begin_anew(std::uint32_t number) { actors_[number].next = 0; }

  std::uint32_t size() const { return static_cast<std::uint32_t>(actors_.size()); }
  const Actor& operator[](std::uint32_t number) const { return actors_[number]; }
  std::uint32_t number_of(RowIndex call) const;
  const Actor& actor_of(RowIndex call) const { return actors_[number_of(call)]; }
  std::uint32_t group_count() const { return static_cast<std::uint32_t>(groups_.size()); }
  /// Numbers of its actors, ascending.
  const std::vector<std::uint32_t>& group(std::uint32_t number) const { return groups_[number]; }

  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  const HomeRows& rows_;
  const detail::Fragment& graph_;
  const bool several_shards_;
  const PlantedInHome planted_;
  std::vector<Actor> actors_;
  std::map<std::uint32_t, std::uint32_t> number_by_index_;
  std::vector<std::vector<std::uint32_t>> groups_;
  std::optional<OutEdges> out_edges_;  ///< of the graph, once behind() has asked
  std::vector<bool> none_behind_;      ///< per row, as far as that was found
};

}  // namespace dag
