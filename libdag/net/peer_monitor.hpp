#pragma once
// Watches the connection of a socket. Decides which of libzmq's events mean something; others decide what
// follows (membership takes a break for a hint of a death). For the .cpp files of libdag/net alone: it
// includes zmq.hpp.

#include <optional>
#include <string>
#include <zmq.hpp>

namespace dag::net {

enum class ConnectionChange { connected, disconnected, refused };

class PeerMonitor {
 public:
  /// `name` is unique in the context. Make it before the socket connects, or its first events are missed.
  PeerMonitor(zmq::context_t& context, zmq::socket_t& watched, const std::string& name);
  /// Destroy before the watched socket: an event without a receiver blocks libzmq's I/O thread for ever.
  ~PeerMonitor();
  PeerMonitor(const PeerMonitor&) = delete;
  PeerMonitor& operator=(const PeerMonitor&) = delete;

  zmq::socket_t& socket() { return events_; }
  /// The next change, if there is one.
  std::optional<ConnectionChange> next();

 private:
  void* watched_;
  zmq::socket_t events_;
};

}  // namespace dag::net
