#pragma once
// Copies of one replicated log under virtual time: replicas, disks, a network and clients of one seed.
// Settled entries are put down, and nothing may ever contradict them.

#include <map>
#include <memory>
#include <set>
#include <string>

#include "libdag/consensus/reconfiguration.hpp"
#include "tools/sim/events.hpp"
#include "tools/sim/result.hpp"
#include "tools/sim/shrink.hpp"
#include "tools/sim/sim_disk.hpp"

namespace dag::sim {

/// Which faults a seed has, until `calm_at`. Shares are of messages or writes.
struct LogWorldOptions {
  std::uint64_t seed = 1;
  std::uint32_t nodes = 5;
  std::uint32_t genesis_voters = 3;
  std::size_t copies_wanted = 3;
  std::uint32_t clients = 3;
  std::uint32_t commands = 30;  ///< of each client, one after the other
  double lost = 0, late = 0, repeated = 0;
  Duration delay_max = std::chrono::milliseconds(5);
  std::uint32_t crashes = 0;     ///< kill -9, the disk stays; of all nodes at once now and then
  std::uint32_t disks_lost = 0;  ///< it comes back with an empty disk
  std::uint32_t cuts = 0;        ///< one way
  std::uint32_t partitions = 0;  ///< in two parts
  std::uint32_t pauses = 0;
  std::uint32_t disks_full = 0;  ///< for a while, and the copy knows
  std::uint32_t rots = 0;        ///< a bit turns over on a disk whose node is down
  std::uint32_t transfers = 0;
  std::uint32_t drains = 0;       ///< a node is to go, for a while
  bool drained_for_good = false;  ///< or to the end: by then it leads nothing that another could
  bool grows = false;             ///< the copies that are wanted change
  bool any_changes = false;       ///< voters change by chance
  double aim = 0;                 ///< share of faults that hit the leader
  double struck_at_promises = 0;  ///< share of nodes that die when they have just settled something, or voted
  double struck = 0;              ///< share of leaders that are struck when they have just begun
  bool duels = false;             ///< then they mostly die within milliseconds
  double drift = 0;               ///< clocks run faster or slower by up to this share
  Duration write_max = std::chrono::milliseconds(3);
  bool slow_disks = false;  ///< some writes take longer than an election
  consensus::Index compact_every = 0;
  consensus::ReplicaOptions replica;
  Instant calm_at = Instant{std::chrono::seconds(10)};
  std::uint64_t events_max = 2'000'000;
  bool trace = false;
};

LogWorldOptions log_world(std::uint64_t seed);

class LogWorld {
 public:
  explicit LogWorld(const LogWorldOptions& options);

  /// Until all commands of all clients are acknowledged. Throws Violation.
  void run();

  std::uint64_t events = 0;
  std::uint64_t trace_hash = 0xCBF29CE484222325ULL;
  /// Counts of faults, and of guards that refused something.
  std::map<std::string, std::uint64_t> seen;

 private:
  using Index = consensus::Index;
  using Ways = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  /// The state that the log makes: the commands in their order, each once.
  struct State {
    std::vector<std::uint64_t> commands;
    std::set<std::uint64_t> known;
    Blob bytes() const;
    static State of(const Blob& bytes);
    bool apply(std::uint64_t command);
  };
  struct Node {
    std::uint32_t number = 0;
    SimDisk disk;
    Instant disk_full_until;
    std::unique_ptr<consensus::Replica> replica;
    State state;
    Index applied = 0;
    bool leaving = false;
    /// Since when, and in which term, the replica leads and takes no command.
    std::optional<std::pair<Instant, consensus::Term>> refuses;
    Instant paused_until;
    double clock = 1;
    std::uint64_t life = 0;
    std::vector<std::function<void()>> missed;  ///< while it was paused
    std::map<std::uint32_t, Instant> heard;     ///< last message from each node, in this life
    Instant had_majority;
    Instant unsent_until;  ///< messages sent until then that had not arrived died with its host
  };
  struct Client {
    std::uint64_t sent = 0;  ///< commands so far; the last is under way
    bool waits = false;
    std::uint32_t asks = 0;  ///< the node that it takes for the leader
    std::uint64_t attempt = 0;
  };
  struct Reading {
    std::uint32_t node = 0;
    std::uint64_t life = 0;
    std::set<std::uint64_t> acknowledged;  ///< when it was asked
  };

  Instant now() const { return time_.now(); }
  Instant local(const Node& node) const;
  bool calm() const { return now() >= options_.calm_at; }
  Duration at_most(Duration time) const;
  void note(const std::string& line);
  consensus::Seat seat_of(const Node& node) const { return {ProcessId{node.number}, node.disk.id()}; }

  void start(Node& node);
  void kill(Node& node, bool lose_disk);
  void drain(Node& node);
  void schedule(Node& node);
  void write(Node& node);
  void count(const consensus::Message& message);
  void send(Node& from, ProcessId to, consensus::Message message);
  void deliver(std::uint32_t to, consensus::Message message);
  void apply(Node& node, Index index, const consensus::Entry& entry);
  void installed(Node& node, const consensus::Snapshot& snapshot);
  void leads(Node& node, consensus::Term term);
  void told(const Node& node, const consensus::Message& message, ProcessId to) const;

  void submit(std::uint32_t client);
  void acknowledge(std::uint64_t command);
  void read();
  void reconfigure();
  void reconfigure(Node& node);
  std::optional<consensus::Configuration> any_change(const Node& leader);
  void look_for_majority(Node& node);
  void look_for_refusals(Node& node, bool refused);
  void look_who_is_drained() const;
  // log_world_bounds.cpp
  bool could_settle(const Node& node) const;
  void look_for_two_majorities(const Node& node) const;
  bool is_copied();
  void look_who_has_copies();
  void look_how_long_it_took() const;
  void plan_faults();
  void fault(const std::string& kind);
  void fault(const std::string& kind, Node& node);
  bool may_lose_disk(const Node& node) const;
  void strike(Node& node, double more_often = 1);
  void fill_disk(Node& node, Duration how_long);
  void leave(Node& node, bool leaving);
  void tell(std::uint32_t number, std::uint64_t life, const std::function<void(Node&)>& what);
  void cut(const Ways& ways, Duration how_long);
  void isolate(Node& node, Duration how_long);
  void read(Node& node);
  Node& victim();
  bool reaches(std::uint32_t from, std::uint32_t to) const;
  bool done() const;

  const LogWorldOptions options_;
  Random random_;
  Events time_;
  std::vector<Node> nodes_;
  std::vector<Client> clients_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> cut_;
  std::map<std::uint64_t, Reading> readings_;
  /// By their index: changes that leaders asked for; a replica that hears of one late may still follow it.
  std::multimap<consensus::Index, consensus::Configuration> changes_;
  std::uint64_t next_reading_ = 1;
  std::uint64_t next_disk_ = 1;
  std::size_t copies_wanted_ = 0;

  // Facts that must stay true
  struct SettledEntry {
    consensus::Term term = 0;
    consensus::EntryType type = consensus::EntryType::noop;
    std::uint64_t command = 0;
    std::size_t commands_before = 0;  ///< in the state when the entry is applied
    consensus::Term settled_in = 0;   ///< of the leader that settled it
  };
  std::vector<SettledEntry> settled_;  ///< index 1 first
  State reference_;
  std::set<std::uint64_t> acknowledged_;
  std::map<consensus::Term, std::uint32_t> leaders_;
  /// Time of the last election that was not a leader's wish.
  Instant last_election_, handed_over_at_, acknowledged_at_;
  Instant last_start_;  ///< of a node
  Index settled_at_last_look_ = 0;
};

const PartNames& parts_of_log();

/// Runs a seed; `about` says which parts are left out, and its number is ignored.
ChaosResult log_chaos(std::uint64_t seed, consensus::Planted planted = consensus::Planted::nothing,
                      bool trace = false, const Case& about = {});

}  // namespace dag::sim
