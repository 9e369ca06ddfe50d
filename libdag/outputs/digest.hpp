#pragma once
// Digests of outputs (XXH3, 64 bits): two attempts of a task with equal digests have equal values. Not
// against an adversary: a user who runs kernels of a job may give it any value anyway.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dag/blob.hpp"

namespace dag {

/// Never 0, which means "not taken".
std::uint64_t digest_of(const Blob& blob);

/// Digests of larger outputs are computed after the hand-over, beside other work: they take longer than some
/// microseconds.
inline constexpr std::size_t digest_at_once_bytes_max = 64 * 1024;

/// The same digest, computed in pieces by a thread that has other work.
class DigestInPieces {
 public:
  explicit DigestInPieces(Blob blob);
  /// Reads up to so many more bytes. 0: more are left; else the digest.
  std::uint64_t read(std::size_t bytes_max);

 private:
  struct Free {
    void operator()(void* state) const;
  };
  Blob blob_;
  std::size_t read_bytes_ = 0;
  std::unique_ptr<void, Free> state_;  ///< XXH3's
};

/// 0: there are no bytes, or too many to wait for.
inline std::uint64_t digest_if_quick(const Blob& blob, std::size_t bytes_max) {
  return blob && blob.size_bytes() <= bytes_max ? digest_of(blob) : 0;
}

}  // namespace dag
