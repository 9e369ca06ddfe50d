#pragma once
// Several nodes in one process: their real actors, their clients and the worker processes of their jobs, on
// one thread, in an order that the seed draws. The world `actors` of dag-sim.
//
// Never allowed: an attempt that runs twice, a task that is settled as two things, an actor that fails, a
// message that its receiver refuses. At the end, each job that was accepted ended with the right values, and
// nothing of it is left.

#include <map>
#include <memory>
#include <set>

#include "tools/sim/actors/sim_client.hpp"
#include "tools/sim/actors/sim_node.hpp"
#include "tools/sim/actors/sim_worker.hpp"

namespace dag::sim {

/// How often each fault happens, until `calm_at`.
struct ClusterFaults {
  Duration begin = std::chrono::milliseconds(200);
  Duration calm_at{0};
  std::uint32_t workers_killed = 0;
  std::uint32_t nodes_crashed = 0;
  std::uint32_t power_cuts = 0;  ///< all nodes at about the same time
  double disks_lost = 0;         ///< share of the crashes, where that loses no majority of any record
  std::uint32_t cuts = 0, flaps = 0, pauses = 0;
};

struct ClusterOptions {
  std::uint64_t seed = 1;
  std::uint32_t nodes = 1;
  std::uint32_t clients = 1;
  Duration clients_come{0};  ///< during which they do
  bool supervise_all = false;
  bool cancels = false;  ///< all clients do; and half of the nodes that say that it is done die just then
  bool on_disk = true;
  std::size_t copies_wanted = 3;
  Duration sync_max = std::chrono::milliseconds(1);
  NetworkOptions network;
  SimLanesOptions lanes;
  ClusterFaults faults;
  Duration patience = std::chrono::seconds(300);  ///< until all must have ended
  PlantedAround planted = PlantedAround::nothing;
  bool trace = false;
};

class Cluster {
 public:
  Cluster(const ClusterOptions& options, std::vector<std::unique_ptr<Program>> programs);
  ~Cluster();

  /// Until all jobs have ended; throws Violation.
  void run();

  Ledger& ledger() { return ledger_; }
  std::uint64_t steps() const { return steps_; }

 private:
  /// The part of a node that outlives its lives.
  struct Seat {
    std::string address;
    std::uint32_t incarnation = 0;
    NodeDisk disk;
    std::set<ProgramId> programs;
    std::unique_ptr<SimNode> node;
    Instant up_since;
    Instant processes_busy;  ///< until then: orders about its worker processes are carried out one by one
  };
  struct Worker {
    Life node;
    std::unique_ptr<SimWorker> process;
  };

  void start_node(std::uint32_t index);
  void start_worker(Life node, const StartProcess& order);
  void end_worker(Life life, const WorkerEnd& how);
  void stop_worker(Life life);
  void in_turn(std::uint32_t node, std::function<void()> what);
  void crash_node(std::uint32_t index, bool lose_disk);

  // cluster_faults.cpp
  void plan_faults();
  void plan(std::uint32_t count, std::function<void()> what);
  void kill_worker();
  void crash(std::uint32_t index);
  void cut();
  void flap();
  void pause();
  void calm_down();
  bool may_lose_disk() const;
  void on_cancelled(JobId job, Life by);
  void start_node_after(Duration pause, std::uint32_t index);
  Duration draw_pause();
  SimProcess* draw_process();

  /// Runs one message of one actor, or the next event. False: there is nothing to do.
  bool step();
  bool pass_time();
  void look_at_waiting_work();
  void check_clean();
  bool all_done() const;
  /// All processes that are there.
  template <class Visit>
  void each_process(Visit&& visit) {
    for (Seat& seat : seats_) {
      if (seat.node) visit(*seat.node);
    }
    for (auto& [life, worker] : workers_) visit(*worker.process);
  }

  const ClusterOptions options_;
  Random random_;
  Random forms_;  ///< of faults, where there was but one form of them: kept seeds keep their histories
  Random cancels_;
  Events events_;
  Network network_;
  Ledger ledger_;
  const SimWorld world_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<Seat> seats_;
  std::map<Life, Worker> workers_;
  std::vector<std::unique_ptr<SimProcess>> dead_;  ///< until nothing of them runs any more
  std::vector<std::unique_ptr<SimClient>> clients_;
  std::vector<SimProcess*> ready_;  ///< of step()
  std::uint64_t steps_ = 0;
  std::uint32_t workers_started_ = 0;
  Instant quiet_since_;  ///< no network was cut since
  WorkConservation conservation_;
  Instant look_at_, settled_at_;  ///< next look at waiting work; time when all nodes know the living
  bool cut_before_ = false;
};

}  // namespace dag::sim
