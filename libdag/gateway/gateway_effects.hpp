#pragma once
// What a gateway (gateway.hpp) wants to be done. actors/keeper_actor carries it out.

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/host/host.hpp"
#include "libdag/keeper/messages.hpp"

namespace dag {

struct SendToClient {
  Life to;
  ClientMessage message;
};
/// A client that is gone, or a worker process: messages to it have an address now.
struct LifeAt {
  Life life;
  Endpoint endpoint;
};
/// A job begins with what is done in that one, which has ended: the cell of that one says what it is. Outputs
/// of it that are held here.
struct RetryOf {
  JobId job;
  std::vector<client::TaskSettled> outputs;
};
/// The first copy of a record is to be made here, and more on other nodes. on_led says when that is done. Who
/// carries this out says in the submission what the time is.
struct RecordJob {
  std::shared_ptr<const JobPlan> plan;
  Submission submission;
  std::optional<RetryOf> retry = {};
};
struct BeginJob {
  std::shared_ptr<const JobPlan> plan;
  std::vector<Life> lives;
  Instant submitted;  ///< deadlines count from here
  std::optional<RetryOf> retry = {};
};
struct JobLivesUp {
  JobId job;
  std::vector<Life> lives;
};
struct JobLifeDown {
  JobId job;
  keeper::WorkerDown down;
};
struct WantOutput {
  JobId job;
  std::uint32_t task = 0;
  /// No process has outputs any more: what the record does not hold is not made again.
  bool at_rest = false;
};
struct CancelJob {
  JobId job;
};
/// It cannot go on.
struct StopJob {
  JobId job;
  Error why;
};
/// Nobody will ask for anything of it.
struct CloseJob {
  JobId job;
};
/// To the disk, in place of memory; on_spilled says when it is there.
struct SpillResult {
  client::TaskSettled settled;
};
/// Whoever has the journal answers this client.
struct ReadJournal {
  Life client;
  client::AskJournal what;
};
/// This node is to go, or stays after all.
struct Drain {
  bool draining = false;
};
/// This node is to end.
struct ShutDown {};
using GatewayEffect =
    std::variant<SendToClient, SendToKeeper, LifeAt, ForgetLife, RecordJob, BeginJob, JobLivesUp, JobLifeDown,
                 WantOutput, CancelJob, StopJob, CloseJob, SpillResult, ReadJournal, Drain, ShutDown>;

}  // namespace dag
