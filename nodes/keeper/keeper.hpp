#pragma once
// A node of a shared cluster, what `dagd` is: cells, membership, clients, and the worker processes of jobs.
// A keeper runs no user code and decodes no user value.

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "actors/keeper_actor.hpp"
#include "actors/membership_actor.hpp"
#include "actors/node_actor.hpp"
#include "nodes/disk/checkpoint_store.hpp"
#include "nodes/disk/data_directory.hpp"
#include "nodes/disk/result_spill.hpp"
#include "nodes/disk/store.hpp"
#include "nodes/journal/journal.hpp"
#include "nodes/journal/journal_home.hpp"
#include "nodes/journal/journal_reader.hpp"
#include "nodes/keeper/job_stories.hpp"
#include "nodes/keeper/member_story.hpp"
#include "nodes/keeper/node_web.hpp"
#include "nodes/keeper/progress_watch.hpp"
#include "nodes/machine/memory_watch.hpp"
#include "nodes/process/parts.hpp"
#include "nodes/process/refreshed.hpp"
#include "nodes/transport/membership_door.hpp"
#include "nodes/transport/transport.hpp"
#include "nodes/workers/worker_processes.hpp"

namespace dag {

struct KeeperOptions {
  /// The node's number, unique in its cluster.
  ProcessId id;
  net::Address listen{"127.0.0.1", 0};
  /// The incarnation that other nodes remember of it (Keeper::come_back_as).
  Incarnation incarnation_at_least;
  /// Where other nodes of the cluster listen; empty: it is the first.
  std::vector<std::string> peers;
  /// Zero: the cluster of the peers; without peers a new one.
  ClusterId cluster;
  /// Where it serves HTTP; nothing: nowhere. Beyond loopback a request needs the token.
  std::optional<net::Address> http;
  std::string http_token;
  /// Lanes of each worker process; 0: as many as the share has cores.
  std::uint32_t lanes = 0;
  /// Niceness of the lanes, as of nice(1).
  std::uint32_t niceness = 0;
  SpawnCredit spawn_credit = {};
  /// How long a worker process that has served a job waits for the next one of its Session.
  Duration keep_warm = WorkerDefaults{}.keep_warm;
  /// The node's part of the host's cores.
  CoreShare share;
  std::string log_level = "warn";
  /// For the output of worker processes; made when it is not there. Empty: they share this process's stderr.
  std::string state_directory;
  /// Directory for data kept between starts; empty: nothing is kept.
  std::string data_directory;
  /// Keeps a journal (journal.hpp): in the data directory, or else with the output of worker processes until
  /// the next start.
  bool journal = true;
  /// Keeps the events of processes of jobs (event_rings.hpp) as well, if there is a journal.
  bool journal_runs = true;
  /// Nodes that hold the record of a job, if there are so many; an odd number. 1: it dies with its node.
  std::uint32_t replicas = 3;
  bool witness = false;
  /// Limits for the results of jobs that have ended.
  ResultLimits results;
};

class Keeper {
 public:
  /// Throws Failure when it cannot be built: address_in_use, address_invalid, disk_full.
  explicit Keeper(const KeeperOptions& options);
  ~Keeper();

  const Endpoint& endpoint() const { return endpoint_; }
  /// Returns when the node must end: a client asked for it (no error), stop() was called, or the other nodes
  /// go on without it.
  std::optional<Error> wait();
  /// After wait(): the others remember a later life of this node, which is over. With this incarnation, at
  /// the same addresses, they accept the node.
  std::optional<Incarnation> come_back_as();
  /// Waits until this many nodes, this one included, are up; false when they are not in time.
  bool wait_for_nodes(std::size_t count, Duration limit);
  /// Ends this node with that node: without an error when that one said goodbye, else with cluster_lost.
  void end_with(ProcessId node) { ends_with_.store(static_cast<std::int64_t>(node.value)); }
  /// From any thread; not from a signal handler.
  void stop();

 private:
  void make_state_directory() const;
  EventSink& open_records();
  std::unique_ptr<Store> open_store();
  void open_checkpoints(const std::map<JobId, consensus::Stored>& jobs);
  void open_spill();
  void open_transport();
  void open_web();
  Ports ports();
  RecordOptions record_options() const;
  // ---- keeper_ports.cpp
  class ForNodeActor;
  class ToReplicas;
  class ForKeeperActor;
  class ForMembership;
  class OnTransport;
  std::unique_ptr<ProcessPort> process_port();
  std::unique_ptr<ReplicaTransport> replica_transport();
  std::unique_ptr<KeeperPorts> keeper_ports();
  std::unique_ptr<MembershipPorts> membership_ports();
  std::unique_ptr<TransportEvents> transport_events();
  // ----
  WorkerEvents worker_events();
  void start_membership();
  // ---- keeper_load.cpp
  const LoadSummary& load_now();
  ProgressPorts progress_ports();
  NodeMeasures measures();
  struct MemoryOfNode {
    std::uint64_t bytes = 0, free_bytes = 0;
  };
  MemoryOfNode memory_now() const;
  LoadSummary load() const;
  std::size_t lanes_of_workers() const;
  NodeLimits limits_now() const;
  void end(std::optional<Error> why);
  Life first_life() const;
  /// The HTTP server asks the node as a client without an address: processes number their clients from 1.
  static Life web_client() { return {client_process(0), {}}; }

  const KeeperOptions options_;
  const Topology topology_ = topology_of_host();
  const std::unique_ptr<Files> files_;
  const std::optional<DataDirectory> data_;
  const Life self_;
  std::shared_ptr<spdlog::logger> logger_;
  JobStories details_;
  std::optional<JournalHome> journal_home_;        ///< without a data directory
  std::unique_ptr<Journal> journal_;               ///< with a directory of either kind
  std::unique_ptr<JournalReader> journal_reader_;  ///< likewise
  std::optional<BothEventSinks> records_;          ///< likewise
  std::unique_ptr<Store> store_;                   ///< with a data directory
  /// The seat of its copies of records; a new one at each start, if they are in memory. 0: it has no seat.
  const std::uint64_t disk_;
  const wire::CodeMap codes_;  ///< names code of programs that are not this one
  ProgramStore programs_;
  std::unique_ptr<CheckpointStore> checkpoints_;  ///< with a data directory
  std::unique_ptr<ResultSpill> spill_;            ///< likewise

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::int64_t> ends_with_{-1};
  std::optional<Incarnation> come_back_as_;  // Under mutex_.
  std::atomic<bool> draining_{false};
  bool over_ = false;
  std::size_t nodes_up_ = 1;
  std::optional<Error> failed_;
  ClusterId cluster_;

  // Used by the membership actor's thread.
  std::optional<MemberStory> members_;
  ProgressWatch progress_;
  Duration heartbeat_{0};
  std::optional<Instant> loaded_at_;
  LoadSummary load_;  ///< the load at `loaded_at_`
  /// Read rarely, from files of Linux: an idle node tells its load many times a second at no cost.
  Refreshed<MemoryOfNode> memory_here_{std::chrono::seconds(1), [this] { return memory_now(); }};
  bool said_stuck_ = false;

  // ---- Ports of the NodeActor
  const std::unique_ptr<ProcessPort> process_;
  const std::unique_ptr<ReplicaTransport> replicas_;
  TellsKeeper listener_{keeper_};

  SystemConfig config_;
  caf::actor_system system_;
  caf::actor node_;
  caf::actor keeper_;
  MembershipDoor membership_;
  std::unique_ptr<Transport> transport_;
  Endpoint endpoint_;
  std::unique_ptr<WorkerProcesses> processes_;
  std::unique_ptr<NodeWeb> web_;  ///< if it serves HTTP
  Lanes lanes_;                   ///< none: kernels run in worker processes
  MemoryWatch memory_;
};

}  // namespace dag
