#pragma once
// A node: all that a process of libdag has, built and taken apart in one place. Alone, or as one of the
// processes that `dag run` starts: then it also has a transport and a membership actor, and process 0 is the
// client.

#include <spdlog/spdlog.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "actors/membership_actor.hpp"
#include "actors/node_actor.hpp"
#include "libdag/client/node.hpp"
#include "libdag/journal/sink.hpp"
#include "nodes/machine/memory_watch.hpp"
#include "nodes/process/ended_jobs.hpp"
#include "nodes/process/parts.hpp"
#include "nodes/process/place.hpp"
#include "nodes/process/process_events.hpp"
#include "nodes/process/run_pages.hpp"
#include "nodes/transport/membership_door.hpp"
#include "nodes/transport/transport.hpp"

namespace dag {

class Node : public detail::Client {
 public:
  /// Throws Failure when it cannot be built, say because the port is taken.
  Node(const NodeOptions& options, std::optional<Place> place);
  ~Node() override;

  /// Serves in every process but process 0, until process 0 has ended or is lost. Returns the exit status.
  int serve();

  Status submit(std::shared_ptr<const detail::Fragment> graph,
                std::shared_ptr<detail::JobState> state) override;
  void want(JobId job, std::uint32_t task) override;
  void cancel(JobId job) override { caf::anon_send(node_, mail::CancelJob{job}); }
  void forget(JobId job) override;
  void on_event(std::function<void(const JobEvent&)> handler) override;

 private:
  // ---- Building it
  CoreShare share() const;
  LanesOptions lanes_options(const NodeOptions& options) const;
  class ForNodeActor;
  class OnJobs;
  class OnLanes;
  class OnTransport;
  class ForMembership;
  std::unique_ptr<ProcessPort> process_port();
  std::unique_ptr<JobListener> job_listener();
  std::unique_ptr<LaneEvents> lane_events();
  void open_transport();
  void start_membership();

  // ---- Events of its parts
  void tell(const JobEvent& event);
  void note(wire::JobNote note);
  void on_view(const std::vector<Claim>& members);
  void on_member_down(const MemberDown& down);
  void on_turned_away(const Caller& caller, const Error& why);
  /// Ends this process's part in the run: the client is told, or serve() returns.
  void fail(Error why);
  Status wait_for_all();
  /// Null: its handle is gone.
  std::shared_ptr<detail::JobState> state_of(JobId job);
  /// Other processes may restart exclusive tasks that run here.
  [[noreturn]] static void lose_lease(std::string_view why);
  EndedJobs::Ports ports_of_ended();
  /// The job's actors are gone.
  void refuse(JobId job, std::uint32_t task);

  const std::optional<Place> place_;
  const Life self_;
  const bool supervise_all_;
  std::shared_ptr<spdlog::logger> logger_;
  /// For one process among several, unless it was told to share no rings.
  const std::shared_ptr<ring::Doorbell> doorbell_;
  NullEventSink records_;

  std::mutex events_mutex_;
  std::function<void(const JobEvent&)> handler_;

  // The members that have come, and the end of the run.
  std::mutex state_mutex_;
  std::condition_variable state_changed_;
  std::set<ProcessId> seen_;
  std::optional<Error> failed_;
  bool first_left_ = false;
  std::map<JobId, std::weak_ptr<detail::JobState>> submitted_;
  EndedJobs ended_{ports_of_ended()};  ///< in a process alone

  std::atomic<std::uint64_t> next_job_{1};
  // Ports of the NodeActor.
  const std::unique_ptr<ProcessPort> process_;
  const std::unique_ptr<JobListener> listener_;

  SystemConfig config_;
  caf::actor_system system_;
  // Ended before the actor system: its actors speak to the transport and the lanes, and these to them.
  caf::actor node_;
  MembershipDoor membership_;
  std::unique_ptr<Transport> transport_;
  /// In a run of several processes: thieves read there which kernels run long, and the survivors of a crash
  /// which kernels the lost process ran.
  std::optional<RunPages> running_;
  Lanes lanes_;
  MemoryWatch memory_;
};

}  // namespace dag
