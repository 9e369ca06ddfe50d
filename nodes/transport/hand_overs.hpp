#pragma once
// Large outputs on their way to a reader: readers on this host map them in place, others fetch them by
// streams, instead of getting them by the link (libdag/ring/messages.hpp has the protocol). On the
// transport's thread; messages go by the control link, in order.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "libdag/job/messages.hpp"
#include "libdag/outputs/borrowed.hpp"
#include "nodes/transport/streams.hpp"

namespace dag::transport {

class HandOvers {
 public:
  using Send = std::function<void(Life, RingMessage)>;
  /// `returned(owner, number)` makes the callback for the moment when an output of another process is not
  /// read any more. Any thread may call it; it leads to give_back().
  using Returned = std::function<std::function<void()>(Life owner, std::uint64_t number)>;
  /// Called by the thread of the streams; it leads to on_streamed().
  using Streamed = std::function<void(Life owner, std::uint64_t number, std::optional<Blob> bytes)>;

  /// `host` is where this process listens.
  HandOvers(std::string host, Send send, Returned returned, Streamed streamed)
      : send_(std::move(send)),
        returned_(std::move(returned)),
        streamed_(std::move(streamed)),
        streams_(std::move(host)) {}

  // As owner.
  /// Hands large bytes over: sends their location, and leaves their number in `data` instead. False: they are
  /// on their way to this reader already, and it need not be told again.
  [[nodiscard]] bool hand_over(Life reader, bool maps_ours, message::Data& data);
  /// The Data to be sent with its bytes after all.
  std::optional<message::Data> on_back(Life reader, const ring::HandBack& back);

  // As reader.
  void on_over(Life owner, const ring::HandOver& over);
  /// `host` is where the owner's link is.
  void on_over(Life owner, const ring::StreamOver& over, const std::string& host);
  /// Puts the bytes in. False: they are still on their way, or could not be read and will be sent again.
  [[nodiscard]] bool complete(Life owner, message::Data& data);
  /// The Data that waited for these bytes, complete.
  std::optional<message::Data> on_streamed(Life owner, std::uint64_t number, std::optional<Blob> bytes);
  void give_back(Life owner, std::uint64_t number);

  /// Ends a life, or its reading of outputs of ours.
  void end(Life life);

 private:
  /// Outputs whose Data has not come: it comes at once, so a few. And as many that are being fetched.
  static constexpr std::size_t announced_max = 64;

  struct Handed {
    message::Data data;
    std::optional<net::StreamToken> streamed;
  };
  struct Peer {
    std::uint64_t last_number = 0;
    std::map<std::uint64_t, Handed> handed;
    std::set<std::pair<JobId, OutputName>> streaming;  ///< of `handed`
    bool cannot_map = false, cannot_fetch = false;     ///< a hand-over failed once: it is not tried again
    // As owner of ours.
    std::map<std::uint64_t, Blob> announced;
    /// Being fetched, with their Data once it is there.
    std::map<std::uint64_t, std::optional<message::Data>> fetching;
    std::optional<net::Address> streams_at;
  };

  bool begin_stream(Life reader, Peer& peer, message::Data& data);
  static void announce(Peer& peer, std::uint64_t number, Blob bytes);

  const Send send_;
  const Returned returned_;
  const Streamed streamed_;
  std::map<Life, Peer> peers_;
  Borrowed borrowed_;
  Streams streams_;  // Last: its thread calls `streamed_`.
};

}  // namespace dag::transport
