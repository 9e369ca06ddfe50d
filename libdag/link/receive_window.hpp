#pragma once
// Decides which of the arriving frames are delivered now, kept for later, repeats, or refused, and how much
// more the peer may send. link_machine.hpp decides when to tell the peer.

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "libdag/link/frame_header.hpp"
#include "libdag/link/link_options.hpp"

namespace dag::link {

enum class Arrival { delivered, kept, repeated, beyond_window, over_credit };

template <class Operation>
class ReceiveWindow {
 public:
  struct Delivery {
    std::vector<Operation> operations;
    std::uint64_t charge_bytes = 0;
  };

  explicit ReceiveWindow(const LinkOptions& options)
      : window_operations_(options.window_operations),
        window_bytes_(options.window_bytes),
        announced_operations_(options.window_operations),
        announced_bytes_(options.window_bytes) {}
  /// A frame has been delivered, ever.
  bool has_taken_any() const { return next_ > 1; }

  /// Appends all operations that are deliverable now, in order.
  Arrival on_frame(std::uint64_t seq, std::vector<Operation>&& operations, std::uint64_t charge_bytes,
                   std::vector<Delivery>& deliveries) {
    DAG_CHECK(seq > 0);
    if (seq < next_) return Arrival::repeated;
    if (seq - next_ >= frames_in_flight_max) return Arrival::beyond_window;
    std::optional<Delivery>& slot = slots_[seq % frames_in_flight_max];
    if (slot) return Arrival::repeated;
    // An honest sender never gets here: it sends at most one window beyond the handled operations.
    if (held_operations_ + operations.size() > window_operations_ || charge_bytes > window_bytes_ ||
        held_bytes_ + charge_bytes > window_bytes_) {
      return Arrival::over_credit;
    }
    held_operations_ += operations.size();
    held_bytes_ += charge_bytes;
    slot.emplace(Delivery{std::move(operations), charge_bytes});
    if (seq != next_) {
      ++kept_;
      return Arrival::kept;
    }
    ++kept_;
    while (std::optional<Delivery>& ready = slots_[next_ % frames_in_flight_max]) {
      deliveries.push_back(std::move(*ready));
      ready.reset();
      --kept_;
      ++next_;
    }
    return Arrival::delivered;
  }

  /// Delivered operations are handled: the peer may send as much again.
  void on_handled(std::uint64_t operations, std::uint64_t charge_bytes) {
    DAG_CHECK(operations <= held_operations_);
    DAG_CHECK(charge_bytes <= held_bytes_);
    held_operations_ -= operations;
    held_bytes_ -= charge_bytes;
    handled_operations_ += operations;
    handled_bytes_ += charge_bytes;
  }

  /// True: a quarter of a window can be given back, and the peer does not know that yet.
  bool credit_is_worth_a_frame() const {
    return handled_operations_ + window_operations_ - announced_operations_ >= (window_operations_ + 3) / 4 ||
           handled_bytes_ + window_bytes_ - announced_bytes_ >= (window_bytes_ + 3) / 4;
  }

  /// Writes our side of the link into a header that is about to leave.
  void announce(FrameHeader& header) {
    header.ack = next_;
    header.ack_beyond = 0;
    if (kept_ > 0) {
      for (std::uint64_t i = 0; i + 1 < frames_in_flight_max; ++i) {
        if (slots_[(next_ + 1 + i) % frames_in_flight_max]) header.ack_beyond |= std::uint64_t{1} << i;
      }
    }
    announced_operations_ = handled_operations_ + window_operations_;
    announced_bytes_ = handled_bytes_ + window_bytes_;
    header.credit_operations = announced_operations_;
    header.credit_bytes = announced_bytes_;
  }

  std::uint64_t held_operations() const { return held_operations_; }
  std::uint64_t held_bytes() const { return held_bytes_; }

 private:
  std::uint64_t window_operations_;
  std::uint64_t window_bytes_;
  /// The first frame that has not arrived.
  std::uint64_t next_ = 1;
  /// Frames that arrived before an earlier one did, at their number modulo the window.
  std::array<std::optional<Delivery>, frames_in_flight_max> slots_;
  std::uint64_t kept_ = 0;
  /// Kept, or delivered and not handled: the window bounds these.
  std::uint64_t held_operations_ = 0;
  std::uint64_t held_bytes_ = 0;
  std::uint64_t handled_operations_ = 0;
  std::uint64_t handled_bytes_ = 0;
  std::uint64_t announced_operations_;
  std::uint64_t announced_bytes_;
};

}  // namespace dag::link
