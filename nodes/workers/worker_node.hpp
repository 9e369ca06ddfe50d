#pragma once
// A worker process while it serves a job: transport and runner, no cell and no client. Its node starts it
// (worker_processes.hpp) and ends it, or gives it another job (worker_process.hpp). The node with the
// job's record tells it when to begin, and names the other processes of the job. These have a membership
// of their own: it tells where they are and how loaded. Only the cell says which process is dead for the
// job.

#include <mutex>

#include "actors/membership_actor.hpp"
#include "actors/node_actor.hpp"
#include "libdag/base/owned_file.hpp"
#include "libdag/client/node.hpp"
#include "libdag/host/silences.hpp"
#include "libdag/journal/sink.hpp"
#include "nodes/journal/event_rings.hpp"
#include "nodes/process/parts.hpp"
#include "nodes/process/process_events.hpp"
#include "nodes/transport/membership_door.hpp"
#include "nodes/transport/transport.hpp"
#include "nodes/workers/worker_seat.hpp"

namespace dag {

class WorkerNode {
 public:
  /// The page outlives this.
  WorkerNode(const NodeOptions& options, WorkerSeat seat, RunningPage& page);
  ~WorkerNode();

  /// Returns when the process has to end by itself, with its exit status: its node or the other processes of
  /// its job are lost. Mostly the node ends it before. Nothing: the node wants the process to leave the job.
  std::optional<int> serve();

 private:
  LanesOptions lanes_options() const;
  class ForNodeActor;
  class OnLanes;
  std::unique_ptr<LaneEvents> lane_events();
  void note(wire::JobNote what);
  [[noreturn]] void end_now(std::string_view why, int status) const;
  class OnTransport;
  class ForMembership;
  void open_transport();
  void on_begin(Life from, const keeper::Begin& order);
  void begin(const keeper::Begin& begin);
  void explain(Life from, keeper::Explain question);
  void on_heard(Life life, bool heard);
  void say_unheard();
  /// The life that leads the record of the job.
  Life cell();
  void fail(Error why);

  const WorkerSeat seat_;
  RunningPage* const running_;
  std::shared_ptr<spdlog::logger> logger_;
  const std::shared_ptr<ring::Doorbell> doorbell_;
  const std::optional<EventRings> rings_;  ///< if its node keeps a journal
  const std::unique_ptr<EventSink> records_;
  const std::unique_ptr<EventSink> logs_;  ///< for the log lines of kernels

  std::mutex mutex_;
  Life cell_ = seat_.cell;
  std::uint32_t term_ = 0;  ///< the leader's term
  bool begun_ = false;
  Silences silences_;  ///< of others of the job
  std::optional<Error> failed_;
  const OwnedFile has_failed_;  ///< an eventfd

  const std::unique_ptr<ForNodeActor> for_node_actor_;

  SystemConfig config_;
  caf::actor_system system_;
  caf::actor node_;
  MembershipDoor membership_;  // Opened when it begins.
  std::unique_ptr<Transport> transport_;
  Lanes lanes_;
};

}  // namespace dag
