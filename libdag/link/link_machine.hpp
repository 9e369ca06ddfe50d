#pragma once
// An end of a link between a life of this process and a life of a peer, on one channel. Decides when to send,
// what to deliver and what to refuse. Others decide what an operation is (wire/), how frames travel (net/,
// rings) and which processes are alive (membership): a link ends when its machine is destroyed.
//
// THE PROTOCOL
//
// Frames    A *numbered* frame (seq > 0) carries a batch of operations; it is kept until acknowledged and
//           repeated as it was. A *bare* frame (seq 0) carries none. Every frame carries ack, ack_beyond,
//           credit, and possibly a probe or an answer.
// Sender    At most 64 numbered frames, and no more operations and bytes than the peer's credit, are
//           unacknowledged. While something is in flight, or waits for credit, and nothing moves, it sends a
//           bare probe, ever more slowly. It repeats a frame when something sent clearly later has arrived
//           (send_window.hpp).
// Receiver  Keeps what arrives early, drops repeats, delivers in order. Acknowledges with its next frame, or
//           with a bare one after a while, after some frames, at once when a frame was missing, repeated or
//           a probe, or when it can give back a quarter of a window.
//
// Exactly once, in order: `next_` of the receiver grows by one per delivered frame and a frame below it is a
// repeat, so a number is delivered once and in order; a number always means the same batch, since a batch
// gets its number when it is first sent and keeps it; both are only true between two lives, so a header that
// names other lives is refused. Nothing is lost: a batch leaves the sender's hands only when the receiver has
// said that it holds it, and the receiver never forgets what it holds.
//
// Why a link makes progress: let the carrier lose frames, but not all frames for ever, and let the receiver
// handle what it gets. If anything is unacknowledged or waits for credit, then probes are sent until one
// arrives. Its answer, or a later one, arrives, and it (a) acknowledges, or (b) names what is missing, which
// is then repeated, or (c) gives credit. So something moves. Credit that a lost frame carried is carried by
// every later one again.
//
// Why a link falls silent: bare frames are answered only when they probe, and probes are sent only while
// something is unacknowledged or waits for credit. Once producers stop, each repeat or probe answered moves
// the window, until it is empty; the last delayed acknowledgement leaves and is not answered. Then nothing is
// in flight and `due()` is empty.
//
// Memory: outbox + 64 frames (or the credit) going out, one window coming in. A peer that never acknowledges
// costs that, and one small frame per `probe_after_max`.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "libdag/link/link_effects.hpp"
#include "libdag/link/receive_window.hpp"
#include "libdag/link/send_window.hpp"

namespace dag::link {

/// The two lives a link joins.
struct LinkEnds {
  ClusterId cluster;
  Life self;
  Life peer;
};

template <class Operation>
class LinkMachine {
 public:
  using Effects = std::vector<Effect<Operation>>;

  LinkMachine(const LinkEnds& ends, const LinkOptions& options)
      : ends_(ends),
        options_((check(options), options)),
        outbox_(options_),
        sending_(options_),
        receiving_(options_),
        probe_wait_(options_.probe_after) {}

  /// Queues an operation for the peer. `size_bytes` is the operation's size on the wire, as wire/ measures
  /// it. Full batches leave at once, others when due: look at `due()` after a row of offers.
  [[nodiscard]] Offer offer(Operation&& operation, std::size_t size_bytes, Instant now, Effects& effects) {
    const Offer answer = outbox_.offer(std::move(operation), size_bytes, now);
    if (outbox_.has_closed()) pump(Flush::closed_only, now, effects);
    update_waiting(now);
    return answer;
  }

  /// Sends queued operations, full batch or not, within the credit. For a lane that is about to be busy.
  void flush(Instant now, Effects& effects) {
    pump(Flush::all, now, effects);
    update_waiting(now);
  }

  void on_frame(const FrameHeader& header, std::vector<Operation>&& operations, Instant now,
                Effects& effects) {
    if (const std::optional<Refusal> refusal = foreign(header, operations)) {
      effects.push_back(FrameRefused{*refusal, header.from});
      // Our header corrects a peer that believes us in another life. It is bare, so it is not
      // answered.
      const bool expects_answer = header.seq > 0 || header.probe > 0;
      if (*refusal == Refusal::other_receiver && expects_answer) send_bare(0, effects);
      return;
    }
    typename SendWindow<Operation>::Progress progress = sending_.on_header(header);
    if (!progress.plausible) {
      effects.push_back(FrameRefused{Refusal::ack_of_unsent, header.from});
      return;
    }
    heard(now, effects);
    if (progress.moved) on_progress(now);
    answer_ = std::max(answer_, header.probe);
    if (header.seq > 0) take_in(header, std::move(operations), now, effects);
    for (auto& lost : progress.lost) send_frame(lost.seq, std::move(lost.batch), 0, effects);
    pump(Flush::due_only, now, effects);
    settle(now, effects);
  }

  /// A Deliver has been dealt with; its two numbers.
  void on_handled(std::uint64_t operations, std::uint64_t charge_bytes, Effects& effects) {
    receiving_.on_handled(operations, charge_bytes);
    if (receiving_.credit_is_worth_a_frame()) send_bare(0, effects);
  }

  /// The carrier has connected again: frames in flight may be lost, so probe at once. Our acknowledgements
  /// may be lost, too, and the peer waits for them: the two directions of a link connect one after the other.
  void on_carrier_restored(Instant now, Effects& effects) {
    answer_ = std::max(answer_, answered_);
    ack_now_ = ack_now_ || receiving_.has_taken_any();
    if (waiting()) send_probe(effects);
    pump(Flush::due_only, now, effects);
    settle(now, effects);
  }

  /// Time has passed. Needed at `due()`, harmless at any time.
  void on_tick(Instant now, Effects& effects) {
    pump(Flush::due_only, now, effects);
    update_waiting(now);
    if (ack_due_ && *ack_due_ <= now) send_bare(0, effects);
    if (waiting() && probe_due_ <= now) {
      if (!away_ && now - last_heard_ >= options_.away_after) {
        away_ = true;
        effects.push_back(PeerAway{});
      }
      send_probe(effects);
      probe_wait_ = std::min(probe_wait_ * 2, options_.probe_after_max);
      probe_due_ = now + probe_wait_;
    }
  }

  /// When `on_tick` is needed next; empty when the link is quiet or can only wait for the peer.
  std::optional<Instant> due() const {
    std::optional<Instant> due = ack_due_;
    const auto sooner = [&due](Instant other) { due = due ? std::min(*due, other) : other; };
    if (may_send_next()) sooner(outbox_due());
    if (waiting()) sooner(probe_due_);
    return due;
  }

  /// Nothing of ours waits or is unacknowledged, and we owe no acknowledgement.
  bool quiet() const { return outbox_.empty() && sending_.empty() && !ack_due_; }
  bool away() const { return away_; }
  const LinkEnds& ends() const { return ends_; }

  // For metrics and the tests of the limits.
  std::size_t queued_operations() const { return outbox_.queued_operations(); }
  std::size_t queued_bytes() const { return outbox_.queued_bytes(); }
  std::size_t frames_in_flight() const { return sending_.frames(); }
  std::uint64_t held_operations() const { return receiving_.held_operations(); }
  std::uint64_t held_bytes() const { return receiving_.held_bytes(); }

 private:
  using BatchPointer = typename Outbox<Operation>::BatchPointer;
  enum class Flush { closed_only, due_only, all };

  std::optional<Refusal> foreign(const FrameHeader& header, const std::vector<Operation>& operations) const {
    if (header.cluster != ends_.cluster) return Refusal::other_cluster;
    if (header.from.process != ends_.peer.process || header.to.process != ends_.self.process) {
      return Refusal::other_process;
    }
    if (header.from.incarnation < ends_.peer.incarnation) return Refusal::stale_sender;
    if (header.from.incarnation > ends_.peer.incarnation) return Refusal::newer_sender;
    if (header.to.incarnation != ends_.self.incarnation) return Refusal::other_receiver;
    if ((header.seq > 0) == operations.empty()) return Refusal::malformed;
    return std::nullopt;
  }

  void take_in(const FrameHeader& header, std::vector<Operation>&& operations, Instant now,
               Effects& effects) {
    arrivals_.clear();
    switch (receiving_.on_frame(header.seq, std::move(operations), header.charge_bytes, arrivals_)) {
      case Arrival::delivered:
        frames_unacknowledged_ += arrivals_.size();
        // More than one: a gap has just closed, and the sender waits to know.
        if (frames_unacknowledged_ >= options_.ack_frames || arrivals_.size() > 1) ack_now_ = true;
        break;
      case Arrival::kept:
      case Arrival::repeated:
        ack_now_ = true;
        break;
      case Arrival::beyond_window:
        effects.push_back(FrameRefused{Refusal::beyond_window, header.from});
        return;
      case Arrival::over_credit:
        effects.push_back(FrameRefused{Refusal::over_credit, header.from});
        return;
    }
    if (!ack_due_) ack_due_ = now + options_.ack_after;
    for (auto& arrival : arrivals_) {
      effects.push_back(Deliver<Operation>{std::move(arrival.operations), arrival.charge_bytes});
    }
  }

  /// At once when nothing is in flight; else so that frames are at least one flush age apart.
  Instant outbox_due() const {
    if (outbox_.has_closed()) return Instant{};
    if (sending_.empty()) return outbox_.open_since();
    return std::max(outbox_.open_since(), last_batch_sent_ + options_.flush_age);
  }
  bool may_send_next() const { return !outbox_.empty() && sending_.may_send(outbox_.front()); }
  /// True: only the peer can make progress possible.
  bool waiting() const { return !sending_.empty() || (!outbox_.empty() && !may_send_next()); }

  void pump(Flush which, Instant now, Effects& effects) {
    while (may_send_next()) {
      if (!outbox_.has_closed() &&
          (which == Flush::closed_only || (which == Flush::due_only && outbox_due() > now))) {
        break;
      }
      auto next = sending_.put(outbox_.pop());
      last_batch_sent_ = now;
      send_frame(next.seq, std::move(next.batch), 0, effects);
    }
    if (outbox_.take_room_again()) effects.push_back(RoomAgain{});
  }

  void send_bare(std::uint64_t probe, Effects& effects) { send_frame(0, nullptr, probe, effects); }
  void send_probe(Effects& effects) { send_bare(sending_.put_probe(), effects); }

  /// Every frame leaves here, so every frame acknowledges, gives credit and answers.
  void send_frame(std::uint64_t seq, BatchPointer batch, std::uint64_t probe, Effects& effects) {
    FrameHeader header;
    header.cluster = ends_.cluster;
    header.from = ends_.self;
    header.to = ends_.peer;
    header.seq = seq;
    header.charge_bytes = batch ? batch->charge_bytes : 0;
    header.probe = probe;
    header.answer = std::exchange(answer_, 0);
    answered_ = std::max(answered_, header.answer);
    receiving_.announce(header);
    ack_due_.reset();
    ack_now_ = false;
    frames_unacknowledged_ = 0;
    effects.push_back(Send<Operation>{header, std::move(batch)});
  }

  /// Ends a reaction: urgent data that no other frame has carried leaves alone.
  void settle(Instant now, Effects& effects) {
    if (ack_now_ || answer_ > 0) send_bare(0, effects);
    update_waiting(now);
  }

  /// Starts the timer when the machine begins to wait.
  void update_waiting(Instant now) {
    const bool waits = waiting();
    if (waits && !was_waiting_) {
      probe_wait_ = options_.probe_after;
      probe_due_ = now + probe_wait_;
      last_heard_ = now;
    }
    was_waiting_ = waits;
  }

  void on_progress(Instant now) {
    probe_wait_ = options_.probe_after;
    probe_due_ = now + probe_wait_;
  }

  void heard(Instant now, Effects& effects) {
    last_heard_ = now;
    if (!away_) return;
    away_ = false;
    effects.push_back(PeerBack{});
  }

  const LinkEnds ends_;
  const LinkOptions options_;
  Outbox<Operation> outbox_;
  SendWindow<Operation> sending_;
  ReceiveWindow<Operation> receiving_;
  /// Kept between calls for its memory only.
  std::vector<typename ReceiveWindow<Operation>::Delivery> arrivals_;

  Instant last_batch_sent_;
  /// The peer's probe that still wants its answer.
  std::uint64_t answer_ = 0;
  std::uint64_t answered_ = 0;  ///< the last that was answered
  std::optional<Instant> ack_due_;
  bool ack_now_ = false;
  std::uint64_t frames_unacknowledged_ = 0;

  bool was_waiting_ = false;
  bool away_ = false;
  Duration probe_wait_;
  Instant probe_due_;
  Instant last_heard_;
};

}  // namespace dag::link
