#include "libdag/net/peer_monitor.hpp"

#include <cstring>

#include "libdag/net/zmq_sockets.hpp"

namespace dag::net {

// HANDSHAKE_SUCCEEDED and not CONNECTED: a program that accepts TCP connections may not be one of us. CLOSED
// is an attempt to connect that failed; libzmq does not say why.
static constexpr int wanted_events =
    ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED;

PeerMonitor::PeerMonitor(zmq::context_t& context, zmq::socket_t& watched, const std::string& name)
    : watched_(watched.handle()), events_(context, zmq::socket_type::pair) {
  const std::string endpoint = "inproc://monitor-" + name;
  if (zmq_socket_monitor(watched.handle(), endpoint.c_str(), wanted_events) != 0) throw zmq::error_t();
  events_.set(zmq::sockopt::linger, 0);
  events_.connect(endpoint);
}

PeerMonitor::~PeerMonitor() { zmq_socket_monitor(watched_, nullptr, 0); }

std::optional<ConnectionChange> PeerMonitor::next() {
  zmq::message_t part;
  while (receive(events_, part)) {
    std::uint16_t event = 0;
    if (part.size() >= sizeof event) std::memcpy(&event, part.data(), sizeof event);
    while (part.more() && receive(events_, part)) {  // The second part is the address.
    }
    switch (event) {
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        return ConnectionChange::connected;
      case ZMQ_EVENT_DISCONNECTED:
        return ConnectionChange::disconnected;
      case ZMQ_EVENT_CLOSED:
        return ConnectionChange::refused;
      default:
        break;
    }
  }
  return std::nullopt;
}

}  // namespace dag::net
