#pragma once
// A worker process of a job: the real actors that nodes/workers/worker_node gives one, over lanes, network
// and time that are simulated.

#include "actors/membership_actor.hpp"
#include "actors/node_actor.hpp"
#include "libdag/host/silences.hpp"
#include "tools/sim/actors/sim_lanes.hpp"
#include "tools/sim/actors/sim_process.hpp"

namespace dag::sim {

/// How it ended, for its node.
struct WorkerEnd {
  ProcessEnd how = ProcessEnd::killed;
  std::string text;
  std::optional<std::uint32_t> guilty_lane = std::nullopt;
};

class SimWorker final : public SimProcess {
 public:
  /// `ends`: it ends by itself.
  SimWorker(SimWorld world, StartProcess order, Life node, std::string address, SimLanesOptions lanes,
            std::function<void(WorkerEnd how)> ends);
  ~SimWorker() override;

  bool begun() const { return begun_; }
  JobId job() const { return order_.job; }
  std::vector<RunningAttempt> running() const { return lanes_.running(); }
  void look(std::vector<WaitingWork>& waiting, std::vector<FreeLane>& free) const {
    lanes_.look(life(), waiting, free, job());
  }
  std::string state() const { return to_string(life()) + "\n" + lanes_.open_rows(); }

 private:
  SimLanesPorts lane_ports();
  class ForNodeActor;
  class OnTransport;
  class ForMembership;
  std::unique_ptr<TransportEvents> transport_events();
  void say_hello();
  void on_begin(Life from, const keeper::Begin& order);
  void begin(const keeper::Begin& order);
  void say_unheard();
  void fail(const std::string& why, ProcessEnd how = ProcessEnd::faulted);
  void end_actors() override;

  const StartProcess order_;
  const Life its_node_;
  const std::function<void(WorkerEnd how)> ends_;
  SimLanes lanes_;
  NullEventSink records_;
  const std::unique_ptr<ForNodeActor> for_node_actor_;
  caf::actor node_, membership_;
  Life cell_;
  std::uint32_t term_ = 0;
  bool begun_ = false;
  Silences silences_;
};

}  // namespace dag::sim
