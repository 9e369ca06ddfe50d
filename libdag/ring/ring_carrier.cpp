#include "libdag/ring/ring_carrier.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dag::ring {
namespace {

/// A turn is a batch of copies: about as long as this many pauses. A thread that waits longer has no core of
/// its own.
constexpr int spins_max = 200;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void Turn::take() {
  for (;;) {
    for (int i = 0; i < spins_max; ++i) {
      if (try_take()) return;
      pause();
    }
    taken_.wait(true, std::memory_order_relaxed);
  }
}

RingCarrier::RingCarrier(RingMemory inbox, Outbound outbound)
    : inbox_(std::move(inbox)),
      outbound_(std::move(outbound)),
      write_bytes_max_(record_bytes_max(outbound_.ring.capacity_bytes())),
      writer_(outbound_.ring.view()),
      reader_(inbox_.view()) {}

Wrote RingCarrier::Batch::write(std::uint16_t kind, std::span<const std::byte> head,
                                std::span<const std::byte> value) {
  if (carrier_->broken()) return Wrote::broken;
  const Wrote wrote = carrier_->writer_.write(kind, head, value);
  if (wrote == Wrote::broken) carrier_->broken_.store(true, std::memory_order_relaxed);
  if (wrote == Wrote::full) publish();
  return wrote;
}

void RingCarrier::Batch::publish() {
  if (carrier_->writer_.publish()) carrier_->outbound_.doorbell.ring();
}

bool RingCarrier::Batch::want_space() {
  publish();
  const bool again = carrier_->writer_.want_space();
  if (carrier_->writer_.broken()) carrier_->broken_.store(true, std::memory_order_relaxed);
  return again;
}

std::optional<Error> RingCarrier::error() const {
  if (!broken()) return std::nullopt;
  return Error{ErrorCode::frame_invalid, "the peer wrote into the shared-memory ring what cannot be there"};
}

}  // namespace dag::ring
