#pragma once
// Decides which frames are in flight, which of them are lost, and whether the peer's credit covers another.
// link_machine.hpp decides when to send, and outbox.hpp forms the batches.
//
// Every transmission, a probe included, gets the next *order*. A carrier mostly keeps order, so a frame that
// was last sent clearly before something that has arrived is taken for lost. A wrong guess costs a repeat,
// nothing else.

#include <deque>
#include <vector>

#include "libdag/link/frame_header.hpp"
#include "libdag/link/outbox.hpp"

namespace dag::link {

template <class Operation>
class SendWindow {
 public:
  using BatchPointer = typename Outbox<Operation>::BatchPointer;
  struct Transmission {
    std::uint64_t seq;
    BatchPointer batch;
  };
  struct Progress {
    /// False: the header acknowledges or answers frames that were never sent; the peer is broken or lies.
    bool plausible = true;
    /// Frames left the window, or there is more credit.
    bool moved = false;
    /// To be sent again now.
    std::vector<Transmission> lost;
  };

  explicit SendWindow(const LinkOptions& options)
      : credit_operations_(options.window_operations), credit_bytes_(options.window_bytes) {}

  bool empty() const { return flight_.empty(); }
  std::size_t frames() const { return flight_.size(); }

  bool may_send(const Batch<Operation>& batch) const {
    return flight_.size() < frames_in_flight_max &&
           sent_operations_ + batch.operations.size() <= credit_operations_ &&
           sent_bytes_ + batch.charge_bytes <= credit_bytes_;
  }

  Transmission put(BatchPointer batch) {
    DAG_CHECK(may_send(*batch));
    sent_operations_ += batch->operations.size();
    sent_bytes_ += batch->charge_bytes;
    flight_.push_back({batch, next_order_++, false});
    return {first_ + flight_.size() - 1, std::move(batch)};
  }

  /// The number of a probe. Its answer tells which earlier frames have arrived.
  std::uint64_t put_probe() { return next_order_++; }

  Progress on_header(const FrameHeader& header) {
    Progress progress;
    if (header.ack > first_ + flight_.size() || header.answer >= next_order_) {
      progress.plausible = false;
      return progress;
    }
    note_arrived(header);
    confirmed_before_ = std::max(confirmed_before_, header.answer);
    while (!flight_.empty() && flight_.front().arrived) {
      flight_.pop_front();
      ++first_;
      progress.moved = true;
    }
    if (header.credit_operations > credit_operations_ || header.credit_bytes > credit_bytes_) {
      credit_operations_ = std::max(credit_operations_, header.credit_operations);
      credit_bytes_ = std::max(credit_bytes_, header.credit_bytes);
      progress.moved = true;
    }
    for (std::size_t i = 0; i < flight_.size(); ++i) {
      InFlight& frame = flight_[i];
      if (frame.arrived || frame.order >= confirmed_before_) continue;
      frame.order = next_order_++;
      progress.lost.push_back({first_ + i, frame.batch});
    }
    return progress;
  }

 private:
  struct InFlight {
    BatchPointer batch;
    /// Order of its last transmission.
    std::uint64_t order;
    bool arrived;
  };
  /// Frames may overtake each other by this much before we call one lost (as TCP and QUIC do).
  static constexpr std::uint64_t overtaking_max = 3;

  void note_arrived(const FrameHeader& header) {
    for (std::size_t i = 0; i < flight_.size(); ++i) {
      const std::uint64_t seq = first_ + i;
      const bool beyond = seq > header.ack && seq - header.ack - 1 < frames_in_flight_max &&
                          (header.ack_beyond >> (seq - header.ack - 1) & 1) != 0;
      if ((seq >= header.ack && !beyond) || flight_[i].arrived) continue;
      flight_[i].arrived = true;
      if (flight_[i].order > overtaking_max) {
        confirmed_before_ = std::max(confirmed_before_, flight_[i].order - overtaking_max);
      }
    }
  }

  std::deque<InFlight> flight_;
  /// Number of flight_.front(), or of the next frame when nothing is in flight.
  std::uint64_t first_ = 1;
  std::uint64_t next_order_ = 1;
  /// Frames whose last transmission is before this order and that have not arrived are lost.
  std::uint64_t confirmed_before_ = 0;
  std::uint64_t sent_operations_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t credit_operations_;
  std::uint64_t credit_bytes_;
};

}  // namespace dag::link
