#pragma once
// Messages by which two processes of a host get a ring between them, over their existing link. Both do the
// same:
//
//   Offer    when the other is a member and may be on this host: here lies what I read, there I sleep.
//   Ready    I have opened what you offered, so I can write; and I read what I offered.
//   Closed   no ring, or no more: I could not open yours, or what was in mine was false.
//
// A process writes when it has sent and received Ready: then the other has opened its end and reads. Data of
// the process that received it first stays in the ring until the other receives it, too. Each message is sent
// at most once to a life; after a Closed from either there is never a ring between these two lives, so it
// ends. A process that does not know these messages answers `unimplemented`, which is as good as Closed.
//
// Messages to hand over large outputs: without copying once there is a ring (so each can open the other's
// memory), else by a TCP stream (libdag/net/byte_streams.hpp):
//
//   owner  -> reader  HandOver: output `number` lies there; or StreamOver: it can be fetched there. The Data
//   that
//                     names the number comes behind it.
//   reader -> owner   HandBack: nobody here reads it any more, or it is here; or it could not be opened or
//                     fetched, and then the owner sends the bytes by the link.
//
// The owner keeps the handed-over output unchanged until it is handed back, or the reader's life is over, so
// each hand-over ends.

#include <cstdint>
#include <string>
#include <variant>

namespace dag {
namespace ring {

/// The scope of process ids: a boot of a kernel, and a namespace.
struct Host {
  std::string boot;
  std::uint64_t process_namespace = 0;
  bool operator==(const Host&) const = default;
};

/// A plain value, complete in itself. The opener checks what it names (offer.hpp).
struct Offer {
  Host host;
  std::int32_t process = 0;
  std::int32_t inbox_file = -1;
  std::int32_t doorbell_file = -1;
  std::uint64_t inbox_nonce = 0;
  std::uint64_t doorbell_nonce = 0;
  std::uint64_t capacity_bytes = 0;
  bool operator==(const Offer&) const = default;
};

struct Ready {
  bool operator==(const Ready&) const = default;
};

struct Closed {
  /// For people.
  std::string why;
  bool operator==(const Closed&) const = default;
};

/// Location of bytes, for processes that may open the owner's descriptors. Complete in itself; the opener
/// checks it.
struct SharedBytes {
  std::int32_t process = 0;
  std::int32_t file = -1;
  std::uint64_t nonce = 0;  ///< of the segment
  std::uint64_t capacity_bytes = 0;
  std::uint64_t size_bytes = 0;
  bool operator==(const SharedBytes&) const = default;
};

struct HandOver {
  /// Counted from 1 by the owner, per reader.
  std::uint64_t number = 0;
  SharedBytes where;
  bool operator==(const HandOver&) const = default;
};

/// Where bytes can be fetched: at this port of the link's host, by naming `number` and `secret`.
struct StreamOver {
  std::uint64_t number = 0;  ///< as HandOver's
  std::uint64_t secret = 0;
  std::uint16_t port = 0;
  std::uint64_t size_bytes = 0;
  bool operator==(const StreamOver&) const = default;
};

struct HandBack {
  std::uint64_t number = 0;
  bool read = false;  ///< false: it could not be opened, or fetched
  bool operator==(const HandBack&) const = default;
};

}  // namespace ring

using RingMessage =
    std::variant<ring::Offer, ring::Ready, ring::Closed, ring::HandOver, ring::HandBack, ring::StreamOver>;

}  // namespace dag
