#include "libdag/net/zmq_sockets.hpp"

#include <cerrno>
#include <cstring>

#include "libdag/wire/lengths.hpp"

namespace dag::net {
namespace {

int milliseconds(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

/// Options of all sockets. Each of these has a default that loses data, waits for ever, or worse.
void set_common(zmq::socket_t& socket, Channel channel, const TransportOptions& options) {
  namespace opt = zmq::sockopt;
  const bool control = channel == Channel::control;
  // Default: for ever. A process that ends must end.
  socket.set(opt::linger, milliseconds(options.linger));
  socket.set(opt::sndhwm, send_queue_frames);
  socket.set(opt::rcvhwm, control ? control_receive_queue_frames : bulk_receive_queue_frames);
  // Default: unlimited, allocated before the frame is looked at.
  socket.set(opt::maxmsgsize, static_cast<std::int64_t>(frame_bytes_max(channel)));
  // Default 30 s: so long may a stranger hold a half-open connection.
  socket.set(opt::handshake_ivl, 2000);
  // Never: libzmq 4.3.4 aborts the process when a heartbeat meets a full receive queue. We have our own
  // (membership).
  socket.set(opt::heartbeat_ivl, 0);
  socket.set(opt::ipv6, true);
}

Error bind_error(const Address& address, int problem) {
  const std::string where = to_string(address);
  switch (problem) {
    case EADDRINUSE:
      return {
          ErrorCode::address_in_use,
          "port " + std::to_string(address.port) + " of " + address.host + " is taken",
          "another process listens there, perhaps a dagd: choose another port, or 0 for any that is free"};
    case EACCES:
      return {ErrorCode::address_invalid, "this user may not listen at " + where,
              "ports below 1024 are for root"};
    case EADDRNOTAVAIL:
    case ENODEV:
    case EINVAL:
      return {ErrorCode::address_invalid, where + " is not an address of this machine",
              "listen at 127.0.0.1, or at an address that `ip addr` shows"};
    default:
      return {ErrorCode::address_invalid, "cannot listen at " + where + ": " + zmq_strerror(problem), {}};
  }
}

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string("libzmq: ") + what + ": " + zmq_strerror(zmq_errno()));
}

void release_blob(void*, void* kept) { delete static_cast<Blob*>(kept); }

/// Below this, copying is cheaper than counting a reference from another thread.
constexpr std::size_t shared_from_bytes = 8 * 1024;
static_assert(shared_from_bytes > Blob::inline_bytes_max);

}  // namespace

std::size_t frame_bytes_max(Channel channel) {
  return channel == Channel::control ? limits::control_frame_bytes_max : wire::bulk_frame_bytes_max;
}

zmq::context_t make_context() {
  zmq::context_t context(1);
  // Default 1023: four per peer are used up by 250 peers.
  context.set(zmq::ctxopt::max_sockets, 16 * 1024);
  return context;
}

zmq::socket_t make_router(zmq::context_t& context, Channel channel, const TransportOptions& options) {
  zmq::socket_t socket(context, zmq::socket_type::router);
  set_common(socket, channel, options);
  // Default: a message to a peer that is gone, or whose queue is full, is dropped silently.
  socket.set(zmq::sockopt::router_mandatory, true);
  // On, a connection with a peer's name takes that peer's place.
  socket.set(zmq::sockopt::router_handover, false);
  return socket;
}

zmq::socket_t make_dealer(zmq::context_t& context, Channel channel, const TransportOptions& options) {
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  set_common(socket, channel, options);
  // Default: frames are queued for a connection that does not stand, and lost with it.
  socket.set(zmq::sockopt::immediate, true);
  socket.set(zmq::sockopt::reconnect_ivl, milliseconds(options.reconnect_after));
  // Default: every 100 ms for ever.
  socket.set(zmq::sockopt::reconnect_ivl_max, milliseconds(options.reconnect_after_max));
  // Default: as long as the system tries, minutes.
  socket.set(zmq::sockopt::connect_timeout, 2000);
  return socket;
}

std::string tcp_endpoint(const Address& address) { return "tcp://" + to_string(address); }

Result<Address> bind(zmq::socket_t& socket, const Address& address) {
  // libzmq binds to addresses and interfaces, not to names.
  Address bound{address.host == "localhost" ? "127.0.0.1" : address.host, address.port};
  if (zmq_bind(socket.handle(), tcp_endpoint(bound).c_str()) != 0) return bind_error(address, zmq_errno());
  const std::string endpoint = socket.get(zmq::sockopt::last_endpoint);
  const auto port = parse_address(std::string_view(endpoint).substr(std::strlen("tcp://")));
  if (!port) return port.error();
  bound.port = port->port;
  return bound;
}

bool receive(zmq::socket_t& socket, zmq::message_t& part) {
  while (zmq_msg_recv(part.handle(), socket.handle(), ZMQ_DONTWAIT) < 0) {
    if (zmq_errno() == EAGAIN) return false;
    if (zmq_errno() != EINTR) fail("receive");
  }
  return true;
}

Sent send(zmq::socket_t& socket, zmq::message_t&& part, bool more) {
  while (zmq_msg_send(part.handle(), socket.handle(), ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) < 0) {
    if (zmq_errno() == EAGAIN) return Sent::busy;
    if (zmq_errno() == EHOSTUNREACH) return Sent::gone;
    if (zmq_errno() != EINTR) fail("send");
  }
  return Sent::sent;
}

zmq::message_t message_of(Blob frame) {
  const auto bytes = frame.bytes();
  if (bytes.size() < shared_from_bytes) return zmq::message_t(bytes.data(), bytes.size());
  // libzmq only reads; its interface says void* because it may also be given memory to fill.
  void* data = const_cast<std::byte*>(bytes.data());
  return zmq::message_t(data, bytes.size(), release_blob, new Blob(std::move(frame)));
}

}  // namespace dag::net
