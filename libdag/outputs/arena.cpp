#include "libdag/outputs/arena.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <list>
#include <mutex>

#include "libdag/base/random.hpp"
#include "libdag/outputs/segment.hpp"

namespace dag {
namespace arena {
namespace {

/// Sizes come in eighths of powers of two, so that outputs of about one size share segments.
std::size_t capacity_for(std::size_t size_bytes) {
  const std::size_t step = std::max(std::bit_floor(size_bytes) / 8, std::size_t{64} * 1024);
  return (size_bytes + step - 1) / step * step;
}

class Pool {
 public:
  void begin(std::uint64_t seed, ArenaLimits limits) {
    const std::lock_guard lock(mutex_);
    nonces_ = Random(seed);
    limits_ = limits;
    open_ = true;
  }
  void end() {
    std::list<Segment> gone;  // Unmapped outside the lock.
    const std::lock_guard lock(mutex_);
    open_ = false;
    use_.segments -= waiting_.size();
    gone.swap(waiting_);
    use_.waiting = use_.waiting_bytes = 0;
  }
  /// Nothing: the heap has to do.
  std::optional<Segment> take(std::size_t size_bytes) {
    const std::size_t capacity = capacity_for(size_bytes);
    if (capacity > Segment::capacity_bytes_max) return std::nullopt;
    {
      const std::lock_guard lock(mutex_);
      if (!open_) return std::nullopt;
      const auto fits = [&](const Segment& segment) { return segment.capacity_bytes() == capacity; };
      // The one that was given back last is most likely in a cache.
      const auto found = std::find_if(waiting_.rbegin(), waiting_.rend(), fits);
      if (found != waiting_.rend()) {
        Segment segment = std::move(*found);
        waiting_.erase(std::next(found).base());
        --use_.waiting;
        use_.waiting_bytes -= capacity;
        return segment;
      }
      if (use_.segments >= limits_.segments_max && !drop_oldest()) return std::nullopt;
      ++use_.segments;
    }
    Result<Segment> segment = Segment::create(draw_nonce(), capacity);
    if (segment) return std::move(*segment);
    const std::lock_guard lock(mutex_);
    --use_.segments;
    return std::nullopt;
  }
  void give_back(Segment segment) {
    std::optional<Segment> gone;
    const std::lock_guard lock(mutex_);
    if (!open_ || segment.capacity_bytes() > limits_.waiting_bytes_max) {
      --use_.segments;
      gone = std::move(segment);
      return;
    }
    ++use_.waiting;
    use_.waiting_bytes += segment.capacity_bytes();
    waiting_.push_back(std::move(segment));
    while (use_.waiting_bytes > limits_.waiting_bytes_max) drop_oldest();
  }
  ArenaUse use() const {
    const std::lock_guard lock(mutex_);
    return use_;
  }

 private:
  std::uint64_t draw_nonce() {
    const std::lock_guard lock(mutex_);
    return nonces_.next();
  }
  bool drop_oldest() {
    if (waiting_.empty()) return false;
    --use_.segments;
    --use_.waiting;
    use_.waiting_bytes -= waiting_.front().capacity_bytes();
    waiting_.pop_front();
    return true;
  }

  mutable std::mutex mutex_;
  Random nonces_{0};
  ArenaLimits limits_;
  bool open_ = false;
  std::list<Segment> waiting_;  // Longest first.
  ArenaUse use_;
};

/// Never destroyed: Blobs in static memory may outlive everything else.
Pool& pool() {
  static Pool* const the_pool = new Pool;
  return *the_pool;
}

struct InSegment final : Blob::Owner {
  explicit InSegment(Segment in) : segment(std::move(in)) {}
  ~InSegment() override { pool().give_back(std::move(segment)); }
  Segment segment;
};

}  // namespace

void begin(std::uint64_t seed, ArenaLimits limits) { pool().begin(seed, limits); }
void end() { pool().end(); }
ArenaUse use() { return pool().use(); }

std::optional<ring::SharedBytes> find(const Blob& blob) {
  const auto* owner = dynamic_cast<const InSegment*>(blob.owner());
  if (owner == nullptr) return std::nullopt;
  const Segment& segment = owner->segment;
  return ring::SharedBytes{getpid(), segment.file(), segment.nonce(), segment.capacity_bytes(),
                           blob.size_bytes()};
}

}  // namespace arena

Blob detail::room_for(std::size_t size_bytes) {
  std::optional<Segment> segment = arena::pool().take(size_bytes);
  if (!segment) return Blob::heap(size_bytes);
  std::byte* const data = segment->bytes();
  return Blob::adopt(data, size_bytes, std::make_unique<arena::InSegment>(std::move(*segment)));
}

}  // namespace dag
