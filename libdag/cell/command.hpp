#pragma once
// What a cell is told, as its log keeps it: a cell is what these made of it, one after the other, so each of
// its replicas comes to the same. Everything that a cell knows came by one of them, but for whom its clients
// are.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "libdag/job/messages.hpp"
#include "libdag/supervision/blame.hpp"

namespace dag {

/// How a life ended, as far as whoever watched its process knows.
struct LifeEnd {
  ProcessEnd end = ProcessEnd::went_with_node;
  std::string what;  ///< for people: "signal 11 (Segmentation fault)"
  /// What ran on its lanes; `suspected` is the cell's own to count.
  std::vector<RunningAttempt> running;
  std::optional<std::uint32_t> guilty_lane;
};

namespace command {

/// The first of each leader: who it is, and what it knows of lives that its cell may not know. The first of
/// all begins the job.
struct Lead {
  Life leader;
  std::vector<Life> up, down;
};
/// A home said this: Outcomes or JobFailed.
struct Said {
  Life from;
  JobMessage message;
};
/// All at once, so that they share the shards that nobody has.
struct LivesUp {
  std::vector<Life> lives;
};
struct LifeDown {
  Life life;
  LifeEnd how;
};
struct Keep {
  std::vector<TaskId> tasks;
};
/// These tasks, or the whole job when there are none.
struct Cancel {
  std::vector<TaskId> tasks;
};
struct Stop {
  Error why;
};
struct Close {};

}  // namespace command

using CellCommand = std::variant<command::Lead, command::Said, command::LivesUp, command::LifeDown,
                                 command::Keep, command::Cancel, command::Stop, command::Close>;

}  // namespace dag
