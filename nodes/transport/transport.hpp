#pragma once
// Brings messages to other processes: a thread that owns every socket of this one. Actors and lanes reach it
// by a queue and a wake, and it reaches them by TransportEvents; it never waits for either. Decides nothing
// about work or membership.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libdag/job/edge_news.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/keeper/node_room.hpp"
#include "libdag/membership/effects.hpp"
#include "libdag/net/zmq_transport.hpp"
#include "libdag/ring/ring_carrier.hpp"
#include "libdag/wire/code_map.hpp"
#include "libdag/wire/operation.hpp"

namespace dag {

struct TransportSetup {
  Life self;
  /// Zero: the cluster of the first process that welcomes us.
  ClusterId cluster;
  /// build_of_this_process().
  std::string build;
  net::TransportOptions sockets;
  /// How code is named in messages; a process that runs no kernels passes on what it cannot resolve.
  const wire::CodeMap* codes = &wire::CodeMap::of_this_process();
  /// For a process with lanes: it shares rings with members of its host. Null: it shares none.
  std::shared_ptr<ring::Doorbell> doorbell = nullptr;
  /// Called on the thread with each of its turns, which are this far apart at most.
  std::function<void()> beat = nullptr;
  Duration beat_every = std::chrono::hours(1);
  /// Limits of clients that are welcomed at once; further ones are told why not, each time they say Hello.
  NodeRoom room = {};
};

/// A process that said Hello, as it describes itself.
struct Caller {
  Life life;
  bool same_cluster = false;  ///< or it did not know yet which one it belongs to
};

/// Limit of notes that wait to be sent, or to be looked at, in each place. Those beyond are dropped and
/// counted: the next that is sent is preceded by one with their number.
inline constexpr std::size_t notes_bytes_max = std::size_t{8} << 20;

/// Called on the transport's thread; must not block.
class TransportEvents {
 public:
  virtual ~TransportEvents() = default;

  /// Messages in the order in which they were sent. `handled` is to be called, from any thread, when they
  /// have been dealt with: until then they count against what the sender may send.
  virtual void arrived(Life /*from*/, std::vector<JobMessage> /*messages*/, std::function<void()> handled) {
    handled();
  }
  virtual void note(Life /*from*/, wire::JobNote /*note*/) {}
  virtual void membership(Life /*from*/, MembershipMessage /*message*/) {}
  /// From clients and keepers.
  virtual void client(Life /*from*/, ClientMessage /*message*/) {}
  virtual void keeper(Life /*from*/, KeeperMessage /*message*/) {}
  /// For nodes that hold copies of records. False: this process holds none, and the sender is told so.
  virtual bool copy(Life /*from*/, consensus::Addressed&& /*message*/) { return false; }
  /// A process has said Hello and was welcomed; perhaps not for the first time.
  virtual void greeted(Life /*life*/, const Endpoint& /*endpoint*/, const std::string& /*build*/) {}
  /// The process at an address of connect() takes us for one of its own.
  virtual void welcomed(const std::string& /*address*/, Life /*life*/, const Endpoint& /*endpoint*/) {}
  /// The connection to a life broke; nobody listens where it did.
  virtual void disconnected(Life /*life*/) {}
  virtual void refused(Life /*life*/) {}
  /// The process at this address does not take us for one of its own; or, with limit_reached, not now: we
  /// go on saying Hello, and this is called each time.
  virtual void unwelcome(const std::string& /*address*/, const Error& /*why*/) {}
  /// The cluster's id, where TransportSetup left that open.
  virtual void joined(ClusterId /*cluster*/) {}
  /// We do not take this caller for one of ours. Said when it can be expected to know.
  virtual void turned_away(const Caller& /*caller*/, const Error& /*why*/) {}
  /// There are lanes here: they get the news of other processes' lanes. Else the news come among the
  /// messages.
  virtual bool has_lanes() const { return false; }
  /// News from that process's lanes for lanes here; in the order of the other messages, and dealt with on
  /// return.
  virtual void edges(Life /*from*/, std::vector<EdgeNews>&& /*news*/) {}
  /// A ring to a member stands; it goes when its life is over, or when it broke.
  virtual void ring_up(Life /*peer*/, std::shared_ptr<ring::RingCarrier> /*carrier*/) {}
  virtual void ring_down(Life /*peer*/) {}
  /// A peer has handed back an output that lanes handed over.
  virtual void handed_back(Life /*peer*/, std::uint64_t /*number*/) {}
  /// A member that owes us an answer has been silent for so long that the way to it may be cut; or it is
  /// heard again. It may still be alive, and others may hear it.
  virtual void heard(Life /*life*/, bool /*heard*/) {}
  /// A message from this life, or from us to it, is lost for good: it could not be read, or not be written.
  /// Its receiver would wait for ever, so one of the two should end.
  virtual void broken(Life /*life*/, const Error& /*why*/) {}
  /// Nothing more will come from that life, and it reads nothing of ours.
  virtual void life_over(Life /*life*/) {}
  virtual void log(std::string_view /*line*/) {}
  /// Details for debugging.
  virtual void remark(std::string_view /*line*/) {}
};

class Transport {
 public:
  /// Listens, and calls no event before begin(): a handler may want to answer by what this returns.
  /// address_in_use and others as ZmqTransport::open.
  static Result<std::unique_ptr<Transport>> open(TransportSetup setup,
                                                 std::unique_ptr<TransportEvents> events);
  /// Sends what may still be sent within a moment, then closes every socket. No event is called afterwards.
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  const Endpoint& endpoint() const;
  /// Call once: from now on it sends and receives.
  void begin();

  // From any thread; never blocks, and nothing is refused.

  /// At least once while both live; dropped when `to` is not a member.
  void send(Life to, JobMessage message);
  /// News of lanes here for lanes there, as messages.
  void send(Life to, std::vector<EdgeNews>&& news);
  /// A kernel's note. Dropped when many of them wait: it is for people.
  void note(Life to, wire::JobNote note);
  /// Counts a note that the caller had no room for with those dropped here.
  void note_dropped();
  void send(Life to, ClientMessage message);
  void send(Life to, KeeperMessage message);
  void send(Life to, consensus::Addressed message);
  /// May be lost.
  void send(SendMembership message);
  /// Says Hello to the process that listens there, until it is answered.
  void connect(std::string address);
  void member_up(Life life, Endpoint endpoint);
  /// Returns the callback for when an output of that life is not read here any more; valid after this
  /// transport is gone.
  std::function<void()> hands_back(Life owner, std::uint64_t number) const;
  /// Ends a life: messages that wait for it are dropped.
  void member_down(Life life);
  /// Nothing more is expected of that life, nor sent to it; should it speak again, it is a stranger.
  void forget(Life life);
  /// Tells that life that it is refused, and why (its TransportEvents::unwelcome). May be
  /// lost.
  void refuse(Life life, Error why);

 private:
  class Thread;
  explicit Transport(std::unique_ptr<Thread> thread);
  std::unique_ptr<Thread> thread_;
};

}  // namespace dag
