#pragma once
// What two processes of one host say to each other to get a ring between them, over the link that they have
// anyway. Both do the same:
//
//   Offer    when the other is a member and may be on this host: here lies what I read, there I sleep.
//   Ready    I have opened what you offered, so I can write; and I read what I offered.
//   Closed   no ring, or no more: I could not open yours, or what was in mine was false.
//
// A process writes when it has said Ready and heard it: then the other has opened its end and reads. What is
// written by one that heard it first lies in the ring until the other hears it too. Each is said at most once
// to a life; after Closed, by either, there is never a ring between these two lives, so it ends. Who does not
// know these messages answers `unimplemented`, which is as good as Closed.
//
// And what they say to hand over large outputs: without copying them once there is a ring (so each can open
// what the other names), else by a TCP stream (libdag/net/byte_streams.hpp):
//
//   owner  -> reader  HandOver: output `number` lies there; or StreamOver: it can be fetched there. The Data
//   that
//                     names the number comes behind it.
//   reader -> owner   HandBack: nobody here reads it any more, or it is here; or it could not be opened or
//                     fetched, and then the owner sends the bytes by the link.
//
// The owner leaves what it handed over as it is until it is handed back, or the reader's life is over: so
// each of them ends.

#include <cstdint>
#include <string>
#include <variant>

namespace dag {
namespace ring {

/// Where process ids mean the same: one boot of one kernel, one namespace.
struct Host {
  std::string boot;
  std::uint64_t process_namespace = 0;
  bool operator==(const Host&) const = default;
};

/// A plain value, complete in itself. What it names is checked by who opens it (offer.hpp).
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

/// Where bytes lie, for processes that may open descriptors of the one they lie in. Complete in itself;
/// whoever opens it checks it.
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

/// Where bytes can be fetched: at this port of the host that the owner's link is at, by who names both.
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
