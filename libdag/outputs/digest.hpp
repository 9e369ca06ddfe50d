#pragma once
// Digests of outputs (XXH3, 64 bits): two attempts of one task that left the same digest left the same value.
// Not against an adversary: whoever may run kernels of a job may give it any value anyway.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dag/blob.hpp"

namespace dag {

/// Never 0, which means "not taken".
std::uint64_t digest_of(const Blob& blob);

/// Digests of larger outputs are taken behind their hand-over, beside everything else: some microseconds are
/// not worth that.
inline constexpr std::size_t digest_at_once_bytes_max = 64 * 1024;

/// The same digest, taken a piece at a time by a thread that has other things to do.
class DigestInPieces {
 public:
  explicit DigestInPieces(Blob blob);
  /// Reads on, at most so many bytes. 0: there are more; else the digest.
  std::uint64_t read(std::size_t bytes_max);

 private:
  struct Free {
    void operator()(void* state) const;
  };
  Blob blob_;
  std::size_t read_bytes_ = 0;
  std::unique_ptr<void, Free> state_;  ///< XXH3's
};

/// 0: there is nothing, or so much that nobody waits for it.
inline std::uint64_t digest_if_quick(const Blob& blob, std::size_t bytes_max) {
  return blob && blob.size_bytes() <= bytes_max ? digest_of(blob) : 0;
}

}  // namespace dag
