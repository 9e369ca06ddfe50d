#pragma once
// Large outputs for readers on this host: handed over where they lie instead of being sent
// (libdag/ring/messages.hpp has the protocol). On the transport's thread; what is said goes by the control
// link, in order.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "libdag/home/messages.hpp"
#include "libdag/outputs/borrowed.hpp"

namespace dag::transport {

class HandOvers {
 public:
  using Send = std::function<void(Life, RingMessage)>;
  /// `returned(owner, number)` makes what is called by whatever thread when an output of another process is
  /// not read any more; it leads to give_back().
  using Returned = std::function<std::function<void()>(Life owner, std::uint64_t number)>;

  HandOvers(Send send, Returned returned) : send_(std::move(send)), returned_(std::move(returned)) {}

  // As owner.
  /// Hands the bytes over if they lie in shared memory: says where, and leaves their number in `data`
  /// instead.
  void hand_over(Life reader, message::Data& data);
  /// What is to be sent with its bytes after all.
  std::optional<message::Data> on_back(Life reader, const ring::HandBack& back);

  // As reader.
  void on_over(Life owner, const ring::HandOver& over);
  /// Puts the bytes in. False: they could not be opened, and come again.
  bool complete(Life owner, message::Data& data);
  void give_back(Life owner, std::uint64_t number);

  /// That life is over, or reads nothing of ours any more.
  void end(Life life);

 private:
  /// HandOvers whose Data has not come. It comes at once, so a few.
  static constexpr std::size_t announced_max = 64;

  struct Peer {
    std::uint64_t last_number = 0;
    std::map<std::uint64_t, message::Data> handed;
    std::map<std::uint64_t, Blob> announced;
    bool cannot_read = false;  ///< it could not open one: it gets bytes
  };

  const Send send_;
  const Returned returned_;
  std::map<Life, Peer> peers_;
  Borrowed borrowed_;
};

}  // namespace dag::transport
