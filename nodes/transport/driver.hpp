#pragma once
// The work of the transport's thread: it says and answers Hello, finds partners by their address, gives
// frames to sockets and operations to their receivers. Used on one thread (transport.cpp).
//
// Trust. Two processes talk after each has said Hello to the other on the connection it made and got a
// Welcome: same cluster, same build, a version both speak. A frame counts when its sender, named by cluster
// and life, was welcomed before; anything else is dropped and counted. (A process that reaches the port can
// still pretend to be another. That ends with keys; until then ports are on loopback.)
//
// A client that there is no room for is told so at each Hello, and keeps one socket here until it is
// welcomed.
//
// A caller that has only said Hello is forgotten when others come, those of its own address first: greetings
// cost little, and must never crowd out a member, or a caller that has said more.
//
// A frame that cannot be read is blamed on the partner that spoke on its connection before (partner.hpp says
// what becomes of it); a stranger's frame is dropped.
//
// A connection that breaks may come back to another process on the same port, so Hello is said again after
// each break and before anything else.

#include <deque>
#include <map>
#include <set>

#include "nodes/transport/hand_overs.hpp"
#include "nodes/transport/partner.hpp"
#include "nodes/transport/rings.hpp"
#include "nodes/transport/transport.hpp"

namespace dag::transport {

class Driver {
 public:
  Driver(TransportSetup setup, TransportEvents& events, std::unique_ptr<net::ZmqTransport> sockets);

  /// Waits for frames, timers or a wake, but no longer than `limit`, and deals with them.
  void turn(Duration limit = std::chrono::hours(1));
  net::ZmqTransport& sockets() { return *sockets_; }

  // Called by others on this thread; they deal with `handled`.
  void send(Life to, wire::Operation operation);
  void send(Life to, JobMessage message);
  void send(SendMembership message);
  /// Dropped and counted while the peer takes no more; `dropped` were before they came here.
  void note(Life to, wire::JobNote note, std::uint64_t dropped);
  void connect(const std::string& address);
  void member_up(Life life, const Endpoint& endpoint);
  void member_down(Life life);
  void forget(Life life);
  void refuse(Life life, const Error& why);
  void handled(Life from, net::Channel channel, std::uint64_t count, std::uint64_t charge_bytes);
  /// An output of another process is not read here any more.
  void give_back(Life owner, std::uint64_t number);
  /// The stream of an output of another process has ended.
  void streamed(Life owner, std::uint64_t number, std::optional<Blob> bytes);
  /// All that may still leave has left.
  bool quiet() const;
  /// Throws Bug when a rule is broken. The rules hold between two turns, and two calls.
  void check_invariants() const;

  /// Called with each batch that is for others: sends `handled` back in time.
  std::function<std::function<void()>(Life, const Delivered&)> handled_later;
  /// Called with each output that is mapped in place: the returned callback sends `give_back` in time.
  HandOvers::Returned given_back_later;
  /// Called by the thread of the streams: leads to `streamed` in time.
  HandOvers::Streamed streamed_later;

 private:
  /// Membership messages that wait for a Welcome; the oldest go, since the next heartbeat says everything
  /// again.
  static constexpr std::size_t loose_waiting_max = 8;
  static constexpr std::size_t turned_away_max = 64;

  /// A process we connect to, by the address that was given to us.
  struct Peer {
    net::PeerHandle handle;
    std::optional<Life> life;  ///< the life that welcomed us there last, or is known to have come there since
    bool welcomed = false;     ///< over the connection that stands
    bool unwelcome = false;    ///< told no: it is not asked again
    bool seed = false;         ///< asked for before it was a member: kept when the member dies
    std::uint16_t version = link::versions_spoken.max;
    std::uint32_t hellos = 0;
    std::optional<Instant> hello_at;
    std::deque<SendMembership> waiting;
  };

  /// A process that was welcomed, or has welcomed us.
  struct Known {
    Instant greeted;
    std::string host;   ///< as it says itself
    bool kept = false;  ///< a member, or a process that we asked for
  };

  struct TurnedAway {
    Caller who;
    Error why;
    Instant tell_at;
  };

  Peer& peer_at(const std::string& address);
  void say_hello(Peer& peer);
  void on_frame(net::FrameArrived frame);
  bool is_for_another(const link::FrameHeader& header) const;
  void on_unreadable(const net::FrameArrived& frame, const Error& why);
  std::optional<Life> speaker_of(const net::FrameArrived& frame) const;
  void on_handshake(const net::FrameArrived& frame, const wire::Envelope& envelope);
  void on_hello(const net::FrameArrived& frame, const link::Hello& hello);
  /// A client must wait, since there are as many as there is room for.
  bool is_one_too_many(Life caller) const;
  void on_welcome(const std::string& address, Peer& peer, const link::Welcome& welcome);
  void on_change(net::PeerHandle handle, net::Channel channel, bool connected, bool refused);
  std::pair<const std::string, Peer>* find(net::PeerHandle handle);
  Partner* partner_of(Life life);
  Partner& begin_partner(Life life);
  void know(Life life, const std::string& control, const std::string& bulk, bool kept);
  /// Only its greeting says that it is there.
  bool is_stranger(Life life, const Known& known) const;
  void forget_strangers(const std::string& host);
  /// A new process listens at an address where none did: we do not wait for the next try to connect.
  void came(Life life, const std::string& address);
  link::Hello self_as_hello() const;
  void send_loose(Peer& peer, const SendMembership& message);
  Blob loose_frame(Life to, wire::Operation operation) const;
  void carry_out(Partner& partner, PartnerNews&& news);
  void hand_on(Life from, Delivered&& delivered);
  /// Messages about rings and hand-overs.
  void on_ring_message(Life from, RingMessage&& message);
  bool may_be_on_this_host(const Endpoint& endpoint) const;
  /// Nothing more is sent to it, nor read from it.
  void end(Life life);
  void complain(std::string_view about, const std::string& what);
  void check_dead() const;
  static void check_peer(const Peer& peer);
  Instant next_due(Instant now, Duration limit) const;

  TransportSetup setup_;
  TransportEvents& events_;
  std::unique_ptr<net::ZmqTransport> sockets_;
  const std::string control_address_, bulk_address_;
  std::map<std::string, Peer> peers_;
  std::map<Life, Known> known_;
  /// Where they listen, as they or membership say.
  std::map<Life, Endpoint> endpoints_;
  std::map<Life, Partner> partners_;
  /// The connections on which living peers spoke last.
  std::map<Life, std::map<net::Channel, net::CallerHandle>> callers_;
  Rings rings_;
  HandOvers hand_overs_;
  std::set<Life> dead_;
  std::map<Life, std::uint64_t> notes_dropped_;  ///< not reported yet
  std::deque<TurnedAway> turned_away_;
  /// Counts by kind of complaint, so that a flood of bad frames does not fill the log.
  std::map<std::string, std::uint64_t, std::less<>> complaints_;
};

}  // namespace dag::transport
