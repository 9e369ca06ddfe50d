#pragma once
// Watches the connection of one socket. Decides which of libzmq's events mean something; leaves to others
// what follows (membership takes a break for a hint of a death). For the .cpp files of libdag/net alone: it
// includes zmq.hpp.

#include <optional>
#include <string>
#include <zmq.hpp>

namespace dag::net {

enum class ConnectionChange { connected, disconnected, refused };

class PeerMonitor {
 public:
  /// `name` is unique in the context. To be made before the socket connects, or its first events are missed.
  PeerMonitor(zmq::context_t& context, zmq::socket_t& watched, const std::string& name);
  /// Before the watched socket's: an event that nobody can receive would block libzmq's I/O thread for ever.
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
