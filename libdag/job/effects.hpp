#pragma once
// Effects of homes, runners and the cell of a job: plain values, carried out in order by the driver of the
// machine. An effect of one machine alone is declared with that machine.

#include <cstdint>
#include <string>

#include "libdag/job/attempt.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

/// A lane of this process may claim the row: it is `ready`. (It may have been taken back meanwhile.)
struct MakeReady {
  RowIndex row = no_row;
  Priority priority = Priority::normal;
};
/// Run this attempt in this process; give its end to the asker (Home::on_ended or Runner::on_ended).
/// Calls of one job actor never overlap: the next one is started when the last one has ended.
struct StartAttempt {
  Attempt attempt;
  Priority priority = Priority::normal;
};
/// Let the kernel see Context::cancelled; nobody waits for its end any more.
struct StopAttempt {
  TaskId task;
  AttemptId id;
};
/// To a machine of a life, this one included: the message says which (recipient_of).
struct SendMessage {
  Life to;
  JobMessage message;
};
/// To the runner of this process: others may fetch these bytes from it under this name. No bytes are copied.
struct PublishOutput {
  OutcomeRecord record;
  Blob bytes;
};
/// For people who follow the job: an attempt of this task failed, was late, or crashed its process.
struct Troubled {
  enum class Kind : std::uint8_t { retry, crash, timeout } kind = Kind::retry;
  TaskId task;
  std::string name;
  std::uint32_t number = 0;  ///< of the attempt, as Context::attempt says
  std::string text;
};

}  // namespace dag
