#pragma once
// Decides when operations become a batch, and when producers must slow down. send_window.hpp decides when a
// batch may leave; an operation is opaque here.

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "libdag/link/link_options.hpp"

namespace dag::link {

/// The operations of one frame. Immutable once formed: a repeat is the same batch again.
template <class Operation>
struct Batch {
  std::vector<Operation> operations;
  std::size_t charge_bytes = 0;
};

/// The answer to an offer.
enum class Offer {
  taken,
  /// Taken, but no more new work until `RoomAgain`. The remaining half is for operations that cannot wait,
  /// such as answers to requests; their number is bounded by the peer's requests.
  taken_slow_down,
  /// Not taken: the operation is still the caller's. `RoomAgain` follows.
  refused,
};

template <class Operation>
class Outbox {
 public:
  using BatchPointer = std::shared_ptr<const Batch<Operation>>;

  explicit Outbox(const LinkOptions& options) : options_(options) {}

  /// Moves from `operation` only when it is taken.
  Offer offer(Operation&& operation, std::size_t size_bytes, Instant now) {
    DAG_CHECK(size_bytes <= options_.operation_bytes_max);
    if (queued_operations_ + 1 > options_.outbox_operations_max ||
        queued_bytes_ + size_bytes > options_.outbox_bytes_max) {
      owes_room_ = true;
      return Offer::refused;
    }
    if (open_ && open_->charge_bytes + size_bytes > options_.flush_bytes) close();
    if (!open_) {
      open_ = std::make_shared<Batch<Operation>>();
      open_->operations.reserve(reserve_);
      open_since_ = now;
    }
    open_->operations.push_back(std::move(operation));
    open_->charge_bytes += size_bytes;
    queued_operations_ += 1;
    queued_bytes_ += size_bytes;
    if (open_->operations.size() >= options_.flush_operations ||
        open_->charge_bytes >= options_.flush_bytes) {
      close();
    }
    if (!above_half()) return Offer::taken;
    owes_room_ = true;
    return Offer::taken_slow_down;
  }

  /// True: a batch is complete. Complete batches leave as soon as they may.
  bool has_closed() const { return !closed_.empty(); }
  bool empty() const { return queued_operations_ == 0; }
  Instant open_since() const { return open_since_; }
  std::size_t queued_operations() const { return queued_operations_; }
  std::size_t queued_bytes() const { return queued_bytes_; }

  /// The next batch to leave: a closed one, or else the open one.
  const Batch<Operation>& front() const {
    DAG_CHECK(!empty());
    return closed_.empty() ? *open_ : *closed_.front();
  }

  BatchPointer pop() {
    DAG_CHECK(!empty());
    if (closed_.empty()) close();
    BatchPointer batch = std::move(closed_.front());
    closed_.pop_front();
    queued_operations_ -= batch->operations.size();
    queued_bytes_ -= batch->charge_bytes;
    return batch;
  }

  /// True once after producers were told to slow down and there is room again.
  bool take_room_again() {
    if (!owes_room_ || above_half()) return false;
    owes_room_ = false;
    return true;
  }

 private:
  void close() {
    // The next batch is probably like this one; growing a vector step by step costs more than the operations
    // do.
    reserve_ = std::min(options_.flush_operations, open_->operations.size());
    closed_.push_back(std::move(open_));
    open_.reset();
  }
  bool above_half() const {
    return queued_operations_ * 2 > options_.outbox_operations_max ||
           queued_bytes_ * 2 > options_.outbox_bytes_max;
  }

  LinkOptions options_;
  std::deque<BatchPointer> closed_;
  std::shared_ptr<Batch<Operation>> open_;
  Instant open_since_;
  std::size_t reserve_ = 0;
  std::size_t queued_operations_ = 0;
  std::size_t queued_bytes_ = 0;
  bool owes_room_ = false;
};

}  // namespace dag::link
