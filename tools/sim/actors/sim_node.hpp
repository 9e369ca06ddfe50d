#pragma once
// A node of the cluster: the real actors that nodes/keeper gives one, over network, disk and time that are
// simulated. Its worker processes are the cluster's to start and to end (NodePorts).

#include <set>

#include "actors/keeper_actor.hpp"
#include "actors/membership_actor.hpp"
#include "actors/node_actor.hpp"
#include "tools/sim/actors/node_disk.hpp"
#include "tools/sim/actors/sim_lanes.hpp"
#include "tools/sim/actors/sim_process.hpp"

namespace dag::sim {

struct SimNodeOptions {
  std::vector<std::string> addresses;  ///< of all nodes
  std::uint32_t lanes = 2;             ///< of a worker process
  std::size_t copies_wanted = 3;
  bool on_disk = true;   ///< its writes outlive it
  Duration sync_max{0};  ///< how long a batch may take to be on the disk
};

struct NodePorts {
  std::function<void(const StartProcess& order)> start_process;
  std::function<void(Life life)> stop_process;
  /// Others go on without it: it ends.
  std::function<void()> over;
};

class SimNode final : public SimProcess {
 public:
  /// Begins with the content of the disk.
  SimNode(SimWorld world, Life self, std::string address, const SimNodeOptions& options, NodeDisk& disk,
          std::set<ProgramId>& programs, NodePorts ports);
  ~SimNode() override;

  // Reports that nodes/workers would make.
  void process_started(Life life);
  void process_ended(Life life, ProcessEnd how, std::string text, std::vector<RunningAttempt> running,
                     std::optional<std::uint32_t> guilty_lane);

 private:
  class ForNodeActor;
  class ForKeeperActor;
  class ForMembership;
  class OnTransport;
  void start_membership();
  void write_soon();
  void end_actors() override;

  const SimNodeOptions options_;
  NodeDisk& disk_;
  std::set<ProgramId>& programs_;
  const NodePorts ports_;
  LedgerSink records_;
  SimLanes lanes_;  ///< none: kernels run in worker processes
  const std::unique_ptr<ForNodeActor> for_node_actor_;
  TellsKeeper listener_{keeper_};
  bool write_planned_ = false;
  caf::actor node_, keeper_, membership_;
};

}  // namespace dag::sim
