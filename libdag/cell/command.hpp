#pragma once
// Commands of a cell, as its log keeps them: replicas that apply the same commands come to the
// same state. Everything that a cell knows came by a command, except which clients belong to
// it.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "libdag/job/messages.hpp"
#include "libdag/supervision/blame.hpp"

namespace dag {

/// How a life ended, as far as the watcher of its process knows.
struct LifeEnd {
  ProcessEnd end = ProcessEnd::went_with_node;
  std::string what;  ///< for people: "signal 11 (Segmentation fault)"
  /// Attempts that ran on its lanes; the cell itself sets `suspected`.
  std::vector<RunningAttempt> running;
  std::optional<std::uint32_t> guilty_lane;
};

namespace command {

/// The first command of each leader: its life, and lives that its cell may not know. The first of all begins
/// the job.
struct Lead {
  Life leader;
  std::vector<Life> up, down;
};
/// A message of a home: Outcomes or JobFailed.
struct Said {
  Life from;
  JobMessage message;
};
/// All at once, so that they share the shards that have no home.
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
/// Cancels these tasks, or the whole job when there are none.
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
