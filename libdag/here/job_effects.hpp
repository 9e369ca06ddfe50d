#pragma once
// The effects of a JobHere, in order. All but SendMessage stays in the process.

#include <cstddef>
#include <variant>

#include "libdag/here/job_router.hpp"
#include "libdag/runner/runner.hpp"

namespace dag {

/// A lane may claim this row of a home here: it is `ready`. (The home may have taken it back meanwhile.)
struct OfferRow {
  std::uint32_t shard = 0;
  RowIndex row = no_row;
  Priority priority = Priority::normal;
};
/// The home has begun, and lanes may use its rows.
struct HomeBegan {
  std::uint32_t shard = 0;
};
/// So many tasks went from here to an idle process that asked.
struct WorkLent {
  Life thief;
  std::size_t tasks = 0;
};
/// For the cell, or the copy of its record, that this process hosts.
struct TellCell {
  Life from;
  JobMessage message;
};
using JobEffect =
    std::variant<OfferRow, StartAttempt, StopAttempt, SendMessage, TellCell, HomeBegan, Troubled, Brought,
                 KeepSave, TakeDigest, LeaseLost, WorkCame, WorkLent, JobOver>;

}  // namespace dag
