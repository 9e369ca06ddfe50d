#pragma once
// Groups of tasks that are supervised together (Graph::group): which members restart with one that failed,
// which are held back until it may start, and who is ended when a group gives up. The home of the members
// carries it out (groups.cpp).
//
// A group hears of all that an event did to its members when that event is over, before any row is decided.
// So members that were lost together are all taken back before one of them starts.
//
// Members start from settled inputs only, and settled outcomes never change. So no end of a member is taken
// back, and neither are its consequences in the group: ends by giving up rest on nothing, like those that a
// client orders.

#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libdag/home/home_rows.hpp"
#include "libdag/supervision/group_machine.hpp"

namespace dag {

class TaskGroups {
 public:
  explicit TaskGroups(const HomeRows& rows) : rows_(rows) {}

  /// The next group of the graph. `members` are its rows here, in the order of adding: none if they are of
  /// another shard.
  void add(std::string name, GroupMachine machine, std::vector<RowIndex> members);
  const std::string& name_of(RowIndex member) const { return group_of(member).name; }

  // ---- Starts
  /// Nothing of the member's own delays its start any more. Returns the members to look at again, which may
  /// have been held back by it.
  std::span<const RowIndex> may_start(RowIndex member);
  /// True: another member that must start together with it is down.
  bool holds_back(RowIndex member) const;

  // ---- Members that go down, and the consequences
  /// An attempt of the member failed or is gone, and another one is to follow.
  void went_down(RowIndex member, Exit why, std::optional<Error> error);
  struct Ended {
    std::span<const RowIndex> look_again;  ///< as of may_start()
    bool gives_up = false;                 ///< the member failed, and the group is of no use without it
  };
  /// The member has ended, by any outcome.
  Ended ended(RowIndex member);

  struct Consequences {
    struct End {
      RowIndex member = no_row;
      Outcome outcome = Outcome::none;
      Error why;
    };
    std::vector<End> ends;  ///< by order of the group, which gave up
    /// First the one that went down. An attempt of such a member is stopped, and the member decided anew.
    std::vector<RowIndex> restarts;
    std::string why_restarted;
  };
  bool has_news() const { return !news_.empty(); }
  /// Removes the oldest news, and returns what follows from it.
  Consequences take_news(Instant now);

  // ---- A new home
  /// Members to start again after a loss of the home, although an attempt of an earlier home may be taken
  /// over. `has_attempt`: the rows with such an attempt. A member without one and whose inputs are settled
  /// may have run and be lost.
  std::vector<RowIndex> restart_with_lost(const std::set<RowIndex>& has_attempt) const;

  /// After an event. Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  struct Group {
    std::string name;
    GroupMachine machine;
    std::vector<RowIndex> members;  ///< ascending: ChildId is the place
  };
  struct News {
    RowIndex member = no_row;
    Exit why = Exit::failed;
    std::optional<Error> error;
    bool for_good = false;  ///< the member has failed, and is not tried again
  };

  std::uint32_t number_of(RowIndex member) const {
    return rows_.table.policy_of(rows_.table[member]).group.value();
  }
  Group& group_of(RowIndex member) { return groups_[number_of(member)]; }
  const Group& group_of(RowIndex member) const { return groups_[number_of(member)]; }
  static ChildId child_of(const Group& group, RowIndex member);
  bool has_done_its_part(RowIndex member) const;
  Consequences give_up(const Group& group, RowIndex failed) const;

  const HomeRows& rows_;
  std::vector<Group> groups_;  ///< as in the graph
  std::deque<News> news_;
};

}  // namespace dag
