#pragma once
// A life of another process, as the transport talks to it: a link for control and one for bulk, messages that
// wait for room in them, and large messages in pieces. A machine: frames and time in, frames and operations
// out. It does not know where the partner is (driver.hpp) nor what operations mean.
//
// A message that would hold up others goes by the bulk link, in pieces of limits::bulk_chunk_bytes, one
// message after another. It is encoded when its turn comes, so only values wait, which share their bytes with
// the rest of the process. Messages of one partner may overtake each other by the other link; senders must
// not rely on order (libdag/job/messages.hpp).
//
// Memory: an outbox and a window per link, one encoded message going out and one coming in
// (message_bytes_max, and an output that is too large to be encoded), and the waiting messages. Their number
// is bounded by the requests that senders may have open at a time: outputs travel when they are asked for
// (Fetch), of which a process has at most RunnerOptions::fetches_max. Only small operations are pushed; a
// partner for which waiting_max of these wait takes nothing any more and is given up.
//
// Unwritable and unreadable messages. A link repeats a frame until it is taken, and delivers in order: a
// frame that no receiver can read would stop for ever all that is behind it. So a frame whose header can be
// read is taken, with nothing in it. A message that cannot be written is replaced by an empty operation. A
// partner is given up when `refusals_max` of its frames in a row were no good. Each is told
// (PartnerNews::broken), once: a message is lost though both lives last, which no protocol above this one
// expects, so that one of the two should end.

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libdag/link/link_machine.hpp"
#include "libdag/net/transport_events.hpp"
#include "libdag/wire/envelope.hpp"

namespace dag::transport {

/// Messages above this size go by the bulk link; of the messages between copies of logs, those that control
/// cannot take.
inline constexpr std::size_t control_operation_bytes_max = 64 * 1024;
/// No encoded message is larger: Cap'n Proto has no longer lists. An output that does not fit in follows its
/// message as it is.
inline constexpr std::size_t message_bytes_max = (std::size_t{1} << 29) - 1;
/// No output that a message carries is larger.
inline constexpr std::uint64_t output_bytes_max = std::uint64_t{1} << 40;
inline constexpr std::size_t waiting_max = 4'000'000;
/// Frames of one channel that cannot be taken at all, while none is delivered: about five seconds of repeats.
inline constexpr std::uint32_t refusals_max = 8;

struct FrameOut {
  net::Channel channel;
  link::FrameHeader header;
  /// Null: no operations.
  std::shared_ptr<const link::Batch<wire::Operation>> batch;
};
/// Say Partner::handled with the two numbers when the operations have been dealt with.
struct Delivered {
  net::Channel channel;
  std::vector<wire::Operation> operations;
  std::uint64_t count = 0;
  std::uint64_t charge_bytes = 0;
};
struct PartnerNews {
  std::vector<FrameOut> frames;
  std::vector<Delivered> delivered;
  std::vector<std::string> complaints;  ///< for the log
  std::optional<bool> heard;            ///< it has been silent for too long, or is heard again
  std::vector<Error> broken;            ///< messages from it or to it that are lost for good
  std::string give_up;                  ///< the reason to give the partner up; empty: none
};

/// The frame as bytes. An operation that cannot be written is replaced by an empty one, since the link counts
/// it as sent.
Result<Blob> encode(const FrameOut& out, std::uint16_t version, std::size_t frame_bytes_max,
                    const wire::CodeMap& codes, std::vector<Error>& broken);

class Partner {
 public:
  /// A message larger than `encoded_bytes_max` with its output goes without it: tests use small limits.
  Partner(const link::LinkEnds& ends, std::uint16_t version, const wire::CodeMap& codes,
          std::size_t encoded_bytes_max = message_bytes_max);

  void send(wire::Operation operation, Instant now, PartnerNews& news);
  void on_frame(net::Channel channel, wire::Envelope envelope, Instant now, PartnerNews& news);
  /// A frame of which only the heading can be read.
  void on_unreadable(net::Channel channel, const wire::Heading& heading, Error why, Instant now,
                     PartnerNews& news);
  /// A frame without a readable heading, or that the link does not take.
  void on_refused(net::Channel channel, const std::string& why, PartnerNews& news);
  void handled(net::Channel channel, std::uint64_t count, std::uint64_t charge_bytes, PartnerNews& news);
  /// There is a connection again; what was in flight may be lost.
  void on_connected(net::Channel channel, Instant now, PartnerNews& news);
  void on_tick(Instant now, PartnerNews& news);
  std::optional<Instant> due() const;

  Life life() const { return ends_.peer; }
  std::uint16_t version() const { return version_; }
  std::size_t waiting() const { return control_.waiting.size() + large_.size(); }
  bool quiet() const { return waiting() == 0 && !outgoing_ && control_.link.quiet() && bulk_.link.quiet(); }

 private:
  using Machine = link::LinkMachine<wire::Operation>;
  struct Lane {
    Lane(const link::LinkEnds& ends, const link::LinkOptions& options) : link(ends, options) {}
    Machine link;
    std::deque<wire::Operation> waiting;
    std::optional<Error> unreadable;  ///< why the last unreadable frame was unreadable
    std::uint32_t refusals = 0;       ///< since a frame was delivered
  };
  /// A large message on its way out.
  struct Outgoing {
    std::uint64_t number = 0;
    Blob bytes;
    Blob output;  ///< left out of `bytes`
    std::size_t sent = 0;
  };
  struct Incoming {
    std::uint64_t number = 0;
    std::uint64_t total_bytes = 0;
    std::uint64_t output_bytes = 0;
    std::uint64_t have_bytes = 0;
    std::vector<Blob> pieces;
  };

  Lane& lane(net::Channel channel) { return channel == net::Channel::control ? control_ : bulk_; }
  void fill_control(Instant now, PartnerNews& news);
  void fill_bulk(Instant now, PartnerNews& news);
  void carry_out(net::Channel channel, Machine::Effects&& effects, PartnerNews& news);
  /// The message that the piece completes, if it does.
  std::optional<wire::Operation> assemble(wire::Piece piece, PartnerNews& news);

  const link::LinkEnds ends_;
  const std::uint16_t version_;
  const wire::CodeMap& codes_;
  const std::size_t encoded_bytes_max_;
  Lane control_;
  Lane bulk_;
  std::deque<wire::Operation> large_;
  std::optional<Outgoing> outgoing_;
  /// Outputs on their way: a runner that asks for one again, because it takes long, gets it once. Emptied
  /// when all have arrived.
  std::set<std::pair<JobId, OutputName>> data_under_way_;
  std::uint64_t last_number_ = 0;
  std::optional<Incoming> incoming_;
  /// A large message that was refused: its further pieces are dropped.
  std::optional<std::uint64_t> refused_number_;
  bool room_control_ = true;
  bool room_bulk_ = true;
};

}  // namespace dag::transport
