#pragma once
// Effects of a gateway (gateway.hpp). actors/keeper_actor carries them out.

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
/// Address of a client that is gone, or of a worker process, for messages to it.
struct LifeAt {
  Life life;
  Endpoint endpoint;
};
/// The job begins with the finished tasks of another job, which has ended: that job's cell tells them.
/// `outputs` are outputs of that job that are held here.
struct RetryOf {
  JobId job;
  std::vector<client::TaskSettled> outputs;
};
/// Makes the first copy of a record here, and more on other nodes. on_led reports when that is done. The
/// actor fills in the submission's time.
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
  /// No process has outputs any more: outputs that are not in the record are not made again.
  bool at_rest = false;
};
struct CancelJob {
  JobId job;
};
/// The job cannot go on.
struct StopJob {
  JobId job;
  Error why;
};
/// Nobody will ask for anything of the job.
struct CloseJob {
  JobId job;
};
/// Moves a result from memory to the disk; on_spilled reports when it is there.
struct SpillResult {
  client::TaskSettled settled;
};
/// The actor with the journal answers this client.
struct ReadJournal {
  Life client;
  client::AskJournal what;
};
/// Drains this node, or cancels that.
struct Drain {
  bool draining = false;
};
/// Ends this node.
struct ShutDown {};
using GatewayEffect =
    std::variant<SendToClient, SendToKeeper, LifeAt, ForgetLife, RecordJob, BeginJob, JobLivesUp, JobLifeDown,
                 WantOutput, CancelJob, StopJob, CloseJob, SpillResult, ReadJournal, Drain, ShutDown>;

}  // namespace dag
