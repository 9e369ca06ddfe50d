#pragma once
// Options of all sockets, and the three calls of libzmq that can fail for outside reasons. For the .cpp files
// of libdag/net alone: it includes zmq.hpp.

#include <optional>
#include <zmq.hpp>

#include "libdag/link/link_options.hpp"
#include "libdag/net/zmq_transport.hpp"

namespace dag::net {

/// Frames queued towards a peer. More than a link has in flight, so a link fills no queue unless the carrier
/// stands still.
inline constexpr int send_queue_frames = 256;
/// Frames queued from a connection: the memory that a peer can fill before its frames are looked
/// at.
inline constexpr int control_receive_queue_frames = 64;
inline constexpr int bulk_receive_queue_frames = 8;
static_assert(send_queue_frames > 2 * static_cast<int>(link::frames_in_flight_max));

/// Larger frames are refused by libzmq itself, which closes the connection.
std::size_t frame_bytes_max(Channel channel);

zmq::context_t make_context();
/// A ROUTER, not bound yet.
zmq::socket_t make_router(zmq::context_t& context, Channel channel, const TransportOptions& options);
/// A DEALER, not connected yet.
zmq::socket_t make_dealer(zmq::context_t& context, Channel channel, const TransportOptions& options);

/// An address in libzmq's form.
std::string tcp_endpoint(const Address& address);
/// Binds, and returns the address: the system chooses the port when it is zero.
Result<Address> bind(zmq::socket_t& socket, const Address& address);

/// Receives a part, if there is one. Interrupted calls are repeated; other failures are bugs of ours or of
/// libzmq.
bool receive(zmq::socket_t& socket, zmq::message_t& part);
/// Sends a part; does not block.
Sent send(zmq::socket_t& socket, zmq::message_t&& part, bool more);
/// Shares the bytes of large frames instead of copying them.
zmq::message_t message_of(Blob frame);

}  // namespace dag::net
