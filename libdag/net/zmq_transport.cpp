#include "libdag/net/zmq_transport.hpp"

#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <map>
#include <thread>
#include <utility>

#include "libdag/net/peer_monitor.hpp"
#include "libdag/net/waker.hpp"
#include "libdag/net/zmq_sockets.hpp"

namespace dag::net {
namespace {

/// Per socket and call of poll: enough to be quick, few enough to be fair.
constexpr int frames_per_poll_max = 256;
constexpr std::array channels{Channel::control, Channel::bulk};

std::size_t index(Channel channel) { return static_cast<std::size_t>(channel); }

std::string limit_of_files() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  return " (at most " + std::to_string(files.rlim_cur) + ")";
}

/// Our connection to a peer on one channel. Members are destroyed from the last: the monitor before the
/// socket that it watches.
struct Connection {
  Connection(zmq::context_t& context, Channel channel, const TransportOptions& options,
             const std::string& name)
      : dealer(make_dealer(context, channel, options)), monitor(context, dealer, name) {}
  zmq::socket_t dealer;
  PeerMonitor monitor;
  bool look_at_dealer = true, look_at_monitor = true;  ///< see Source::look
};

}  // namespace

class ZmqTransport::Sockets {
 public:
  explicit Sockets(const TransportOptions& options)
      : options_(options),
        context_(make_context()),
        routers_{make_router(context_, Channel::control, options),
                 make_router(context_, Channel::bulk, options)},
        thread_(std::this_thread::get_id()) {}
  ~Sockets() { check_thread(); }

  Status listen() {
    const std::array wanted{options_.listen, Address{options_.listen.host, options_.bulk_port}};
    for (const Channel channel : channels) {
      auto bound = bind(routers_[index(channel)], wanted[index(channel)]);
      if (!bound) return bound.error();
      addresses_[index(channel)] = *bound;
    }
    return Done{};
  }
  const Address& address(Channel channel) const { return addresses_[index(channel)]; }

  Result<PeerHandle> connect(const Address& control, const Address* bulk) {
    check_thread();
    const PeerHandle handle{++last_handle_};
    auto connection = make_connection(handle, Channel::control, control);
    if (!connection) return connection.error();
    Peer& peer = peers_[handle];
    peer.connections[index(Channel::control)] = std::move(*connection);
    if (bulk != nullptr) peer.bulk_address = *bulk;
    files_stale_ = true;
    return handle;
  }

  Status set_bulk_address(PeerHandle handle, const Address& bulk) {
    check_thread();
    if (bulk.port == 0) return no_port(bulk);
    const auto peer = peers_.find(handle);
    if (peer == peers_.end() || peer->second.bulk_address == bulk) return Done{};
    peer->second.bulk_address = bulk;
    // The old connection leads to another process, or to none.
    if (std::exchange(peer->second.connections[index(Channel::bulk)], nullptr)) files_stale_ = true;
    return Done{};
  }

  void disconnect(PeerHandle handle) {
    check_thread();
    if (peers_.erase(handle) > 0) files_stale_ = true;
  }

  Sent send(PeerHandle handle, Channel channel, Blob frame) {
    check_thread();
    DAG_CHECK(frame.size_bytes() <= frame_bytes_max(channel));
    const auto peer = peers_.find(handle);
    if (peer == peers_.end()) return Sent::gone;
    auto& connection = peer->second.connections[index(channel)];
    if (!connection && !connect_bulk(handle, peer->second)) return Sent::gone;
    connection->look_at_dealer = true;
    return net::send(connection->dealer, message_of(std::move(frame)), false);
  }

  Sent answer(const CallerHandle& caller, Channel channel, Blob frame) {
    check_thread();
    DAG_CHECK(frame.size_bytes() <= frame_bytes_max(channel));
    zmq::socket_t& router = routers_[index(channel)];
    look_at_router_[index(channel)] = true;
    // With ROUTER_MANDATORY the first part is refused when the caller is gone or its queue is full, so that
    // no half message is left behind.
    const Sent routed =
        net::send(router, zmq::message_t(caller.routing_id.data(), caller.routing_id.size()), true);
    return routed == Sent::sent ? net::send(router, message_of(std::move(frame)), false) : routed;
  }

  std::vector<TransportEvent> poll(Duration timeout) {
    check_thread();
    if (files_stale_) collect_files();
    std::vector<TransportEvent> events;
    for (const Source& source : sources_) {
      if (source.look != nullptr && *source.look) take(source, events);
    }
    const bool more = std::any_of(sources_.begin(), sources_.end(),
                                  [](const Source& source) { return source.look && *source.look; });
    // Rounded up: a timeout of 10 us must not become a busy loop.
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
    const bool at_once = more || !events.empty() || wait < 0;
    if (::poll(files_.data(), files_.size(), at_once ? 0 : static_cast<int>(wait)) <= 0) return events;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].revents != 0) take(sources_[i], events);
    }
    return events;
  }

  void wake() noexcept { waker_.wake(); }

 private:
  struct Peer {
    std::optional<Address> bulk_address;
    std::array<std::unique_ptr<Connection>, channels.size()> connections;
  };

  /// Kind of a file that poll waits for. Not zmq_poll: that makes two system calls for each socket, however
  /// many there are, for one message.
  struct Source {
    enum Kind { waker, callers, answers, monitor } kind = waker;
    Channel channel = Channel::control;
    PeerHandle peer;
    Connection* connection = nullptr;
    /// Whether its socket may have something of which its file says nothing: the file tells of news once, and
    /// a send may be what takes the telling away. Null: not a socket.
    bool* look = nullptr;
  };

  /// A ZeroMQ socket lives and dies on one thread.
  void check_thread() const { DAG_CHECK(std::this_thread::get_id() == thread_); }

  static Error no_port(const Address& address) {
    return {ErrorCode::address_invalid, to_string(address) + " has no port to connect to",
            "port 0 only means something to who listens"};
  }

  Result<std::unique_ptr<Connection>> make_connection(PeerHandle handle, Channel channel,
                                                      const Address& address) {
    if (address.port == 0) return no_port(address);
    std::unique_ptr<Connection> connection;
    try {
      connection = std::make_unique<Connection>(
          context_, channel, options_,
          std::to_string(handle.value) + "-" + std::to_string(++connections_made_));
    } catch (const zmq::error_t& error) {  // Its sockets need descriptors.
      return Error{ErrorCode::peer_unreachable,
                   "no connection to " + to_string(address) + ": " + error.what() + limit_of_files(),
                   "raise the limit of open files (ulimit -n) of this process; `dag doctor` measures it"};
    }
    if (zmq_connect(connection->dealer.handle(), tcp_endpoint(address).c_str()) != 0) {
      return Error{ErrorCode::address_invalid,
                   "cannot connect to " + to_string(address) + ": " + zmq_strerror(zmq_errno()),
                   {}};
    }
    return connection;
  }

  /// Made when it is first used: most pairs of processes never exchange bulk.
  bool connect_bulk(PeerHandle handle, Peer& peer) {
    if (!peer.bulk_address) return false;
    auto connection = make_connection(handle, Channel::bulk, *peer.bulk_address);
    if (!connection) return false;
    peer.connections[index(Channel::bulk)] = std::move(*connection);
    files_stale_ = true;
    return true;
  }

  void collect_files() {
    files_.clear();
    sources_.clear();
    const auto add = [this](int file, Source source) {
      files_.push_back({file, POLLIN, 0});
      sources_.push_back(source);
    };
    add(waker_.file(), {});
    for (const Channel channel : channels) {
      add(routers_[index(channel)].get(zmq::sockopt::fd),
          {Source::callers, channel, {}, nullptr, &look_at_router_[index(channel)]});
    }
    for (auto& [handle, peer] : peers_) {
      for (const Channel channel : channels) {
        Connection* connection = peer.connections[index(channel)].get();
        if (connection == nullptr) continue;
        add(connection->dealer.get(zmq::sockopt::fd),
            {Source::answers, channel, handle, connection, &connection->look_at_dealer});
        add(connection->monitor.socket().get(zmq::sockopt::fd),
            {Source::monitor, channel, handle, connection, &connection->look_at_monitor});
      }
    }
    files_stale_ = false;
  }

  /// All that there is, but for the limit.
  void take(const Source& source, std::vector<TransportEvent>& events) {
    if (source.look != nullptr) *source.look = false;
    switch (source.kind) {
      case Source::waker:
        return waker_.clear();
      case Source::callers:
        *source.look = take_from_callers(source.channel, events);
        return;
      case Source::answers:
        *source.look = take_answers(source, events);
        return;
      case Source::monitor:
        return take_changes(source, events);
    }
  }

  /// A caller's message is its routing id and one frame; anything else is not from one of us and is dropped
  /// whole. True when there may be more.
  bool take_from_callers(Channel channel, std::vector<TransportEvent>& events) {
    zmq::socket_t& router = routers_[index(channel)];
    for (int taken = 0; taken < frames_per_poll_max; ++taken) {
      if (!receive(router, id_)) return false;
      if (!id_.more() || !receive(router, part_)) continue;
      if (skip_rest(router)) continue;
      events.push_back(FrameArrived{channel, CallerHandle{id_.to_string()}, blob_of(part_)});
    }
    return true;
  }

  bool take_answers(const Source& source, std::vector<TransportEvent>& events) {
    zmq::socket_t& dealer = source.connection->dealer;
    for (int taken = 0; taken < frames_per_poll_max; ++taken) {
      if (!receive(dealer, part_)) return false;
      if (!skip_rest(dealer)) events.push_back(FrameArrived{source.channel, source.peer, blob_of(part_)});
    }
    return true;
  }

  static void take_changes(const Source& source, std::vector<TransportEvent>& events) {
    while (const auto change = source.connection->monitor.next()) {
      switch (*change) {
        case ConnectionChange::connected:
          events.push_back(PeerConnected{source.peer, source.channel});
          break;
        case ConnectionChange::disconnected:
          events.push_back(PeerDisconnected{source.peer, source.channel});
          break;
        case ConnectionChange::refused:
          events.push_back(PeerRefused{source.peer, source.channel});
          break;
      }
    }
  }

  /// True when there were more parts than there should be.
  bool skip_rest(zmq::socket_t& socket) {
    bool more = false;
    while (part_.more() && receive(socket, part_)) more = true;
    return more;
  }

  static Blob blob_of(const zmq::message_t& part) {
    return Blob(std::span(static_cast<const std::byte*>(part.data()), part.size()));
  }

  TransportOptions options_;
  Waker waker_;
  zmq::context_t context_;
  std::array<zmq::socket_t, channels.size()> routers_;
  std::array<Address, channels.size()> addresses_;
  std::map<PeerHandle, Peer> peers_;
  std::uint64_t last_handle_ = 0;
  std::uint64_t connections_made_ = 0;
  std::array<bool, channels.size()> look_at_router_{true, true};
  std::vector<pollfd> files_;
  std::vector<Source> sources_;  ///< of each file
  bool files_stale_ = true;
  /// Kept between calls for their memory only.
  zmq::message_t id_, part_;
  std::thread::id thread_;
};

ZmqTransport::ZmqTransport(std::unique_ptr<Sockets> sockets) : sockets_(std::move(sockets)) {}
ZmqTransport::~ZmqTransport() = default;

Result<std::unique_ptr<ZmqTransport>> ZmqTransport::open(const TransportOptions& options) {
  if (!options.beyond_loopback && !is_loopback(options.listen)) {
    return Error{ErrorCode::configuration_invalid,
                 "listening at " + to_string(options.listen) + " would let other machines in, unencrypted",
                 "listen on loopback, as 127.0.0.1:7117: other addresses come with keys"};
  }
  auto sockets = std::make_unique<Sockets>(options);
  if (const Status listening = sockets->listen(); !listening) return listening.error();
  return std::unique_ptr<ZmqTransport>(new ZmqTransport(std::move(sockets)));
}

const Address& ZmqTransport::control_address() const { return sockets_->address(Channel::control); }
const Address& ZmqTransport::bulk_address() const { return sockets_->address(Channel::bulk); }
Result<PeerHandle> ZmqTransport::connect(const Address& control, const Address* bulk) {
  return sockets_->connect(control, bulk);
}
Status ZmqTransport::set_bulk_address(PeerHandle peer, const Address& bulk) {
  return sockets_->set_bulk_address(peer, bulk);
}
void ZmqTransport::disconnect(PeerHandle peer) { sockets_->disconnect(peer); }
Sent ZmqTransport::send(PeerHandle peer, Channel channel, Blob frame) {
  return sockets_->send(peer, channel, std::move(frame));
}
Sent ZmqTransport::answer(const CallerHandle& caller, Channel channel, Blob frame) {
  return sockets_->answer(caller, channel, std::move(frame));
}
std::vector<TransportEvent> ZmqTransport::poll(Duration timeout) { return sockets_->poll(timeout); }
void ZmqTransport::wake() noexcept { sockets_->wake(); }

}  // namespace dag::net
