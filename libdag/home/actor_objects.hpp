#pragma once
// The objects of job actors: where they live, which call they run next, and how lost ones come back.
//
// An object is the result of its create call and the calls after it, in order: after calls[0, applied).
// Normally `applied` is `next`, the first call that has not ended. When the object is lost (its process died,
// a call of it failed midway, calls that it has seen vanished) all objects of its save group are, because
// they feed each other. A lost object comes back when a call or an output needs it: from the group's newest
// border (a save of each actor, all settled and held by a process that the job cannot lose), or from its
// create call; then calls that had ended run again, in order, as attempts of their own whose values must be
// the settled ones; then it goes on. Others of its group that have calls to come do so at the same time.
//
// A rollback ends: an actor's calls are a finite list, each is run again at most once per rollback, and a
// rollback happens only for a new loss or failure, of which each call may have a limited number, or for an
// output that was made before the border, and then an older border is taken. A limit on rollbacks without a
// new call ended stops the job otherwise.
//
// The home hands attempts out and stops them; this class says which.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "libdag/home/actor_calls.hpp"
#include "libdag/home/borders.hpp"

namespace dag {

/// A step of an actor towards the calls and outputs that need it.
struct ActorStep {
  enum class What : std::uint8_t {
    nothing,
    start,        ///< the next call, for the first time
    make_object,  ///< again: from a save, or, without one, by the create call
    run_again,    ///< a call that the object must see again
  };
  What what = What::nothing;
  std::uint32_t actor = 0;
  RowIndex call = no_row;
  RowIndex save = no_row;
  Life at;
  AttemptId object;  ///< that the call is run again for
};

class ActorObjects {
 public:
  ActorObjects(const HomeRows& rows, const ActorCalls& calls, const Borders& borders,
               const message::JobState& state, HomePlacement& placement, const HomeOptions& options)
      : rows_(rows),
        calls_(calls),
        borders_(borders),
        state_(state),
        placement_(placement),
        options_(options) {}

  /// All actors are known.
  void begin();

  // ---- Attempts of calls
  /// The call may run as soon as the object is there.
  void approve(RowIndex call);
  /// An attempt of the call is dispatched. `generation` names the object that the call makes; empty: it makes
  /// none. Returns the name of the object that it is for.
  AttemptId begin_call(RowIndex call, AttemptId generation);
  /// The call has returned to the object.
  void returned(RowIndex call);
  /// The attempt of a call, or of making an object, is not out any more.
  void not_busy(RowIndex call) { actor_of(call).busy = false; }
  /// An object was made again, or a call has run again: values need not be the wanted ones.
  void ran_again(RowIndex call);

  // ---- Steps
  void look_at(RowIndex call) { to_step_.push_back(calls_.number_of(call)); }
  void look_at_group(std::uint32_t group);
  /// The next actor that is to be looked at, if there is one.
  std::optional<std::uint32_t> take_next();
  /// The only place that changes an actor's place. `places`: the lives that run tasks.
  ActorStep step(std::uint32_t actor, const std::vector<Life>& places);
  /// The object is being made again under that name.
  void name_object(std::uint32_t actor, AttemptId generation) { actors_[actor].generation = generation; }

  // ---- Losses
  /// Groups with objects at lives that are gone.
  std::vector<std::uint32_t> lost_groups() const;
  struct Rollback {
    std::vector<std::uint32_t> busy;  ///< actors: all attempts of their calls are given up
    std::vector<RowIndex> given_up;   ///< create calls of the objects
    std::vector<RowIndex> next;       ///< calls to be decided about
    std::size_t border = 0;           ///< that objects come back from; 0: from the beginning
  };
  /// Gives up all objects of the group. Needed ones come back from the newest border that will do. Nothing:
  /// it was rolled back too often.
  std::optional<Rollback> roll_back(std::uint32_t group);
  /// The output of an ended call is lost, and needed. True: the object has passed the call, so the group has
  /// to be rolled back.
  bool want_again(RowIndex call);
  /// The end of the call does not count.
  void undone(RowIndex call) { groups_[calls_.actor_of(call).group].wanted.erase(call); }
  /// A recount is complete: what has settled is known.
  void recounted();
  /// Some of its objects were lost and have not seen again all that they had seen.
  bool comes_back(std::uint32_t group) const;

  // ---- For placement and people
  const std::optional<Life>& place_of(RowIndex call) const { return actors_[calls_.number_of(call)].place; }
  /// Number of different processes that the group lives in; at least 1.
  int processes_of(std::uint32_t group) const;
  /// The object was lost, and has not the state again that the calls before this one left.
  bool lacks_state(RowIndex call) const { return is_behind(calls_.number_of(call)); }
  bool is_busy(RowIndex call) const { return actors_[calls_.number_of(call)].busy; }

  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  struct Actor {
    std::optional<Life> place;
    bool alive = false;  ///< the object exists, after calls[0, applied)
    bool busy = false;   ///< an attempt of a call is out
    AttemptId generation;
    std::size_t applied = 0;
    RowIndex approved = no_row;  ///< the call that may run as soon as the object is there
  };
  struct Group {
    std::set<RowIndex> wanted;  ///< ended calls whose output is to be made again
    std::uint32_t rollbacks = 0;
    std::size_t chosen = 0;  ///< the border that lost objects come back from; 0: create
  };
  Actor& actor_of(RowIndex call) { return actors_[calls_.number_of(call)]; }
  bool alive(Life life) const { return message::is_alive(state_, life); }
  bool is_behind(std::uint32_t actor) const;
  bool is_wanted(std::uint32_t actor) const;
  bool comes_along(std::uint32_t actor) const;
  bool to_replay(std::uint32_t actor, RowIndex call) const;
  void find_place(std::uint32_t actor, const std::vector<Life>& places);
  ActorStep make_object(std::uint32_t actor);

  const HomeRows& rows_;
  const ActorCalls& calls_;
  const Borders& borders_;
  const message::JobState& state_;
  HomePlacement& placement_;
  const HomeOptions& options_;
  std::vector<Actor> actors_;  ///< as in calls_
  std::vector<Group> groups_;
  std::deque<std::uint32_t> to_step_;
};

}  // namespace dag
