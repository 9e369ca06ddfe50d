#pragma once
// A segment of shared memory that holds an output, as mapped by its owner and by others.

#include <utility>

#include "libdag/ring/shared_memory.hpp"

namespace dag {

class Segment {
 public:
  static constexpr std::uint64_t capacity_bytes_max = std::uint64_t{1} << 31;

  static Result<Segment> create(std::uint64_t nonce, std::uint64_t capacity_bytes) {
    auto memory = ring::SharedMemory::create(preamble(nonce, capacity_bytes));
    if (!memory) return memory.error();
    return Segment(std::move(*memory), nonce, capacity_bytes);
  }
  /// Opens a segment of another process of this host for reading.
  static Result<Segment> open(std::int32_t process, std::int32_t file, std::uint64_t nonce,
                              std::uint64_t capacity_bytes) {
    auto memory =
        ring::SharedMemory::open(process, file, preamble(nonce, capacity_bytes), ring::Access::read_only);
    if (!memory) return memory.error();
    return Segment(std::move(*memory), nonce, capacity_bytes);
  }

  std::byte* bytes() const { return memory_.content(); }
  std::uint64_t nonce() const { return nonce_; }
  std::size_t capacity_bytes() const { return capacity_bytes_; }
  int file() const { return memory_.file(); }

 private:
  Segment(ring::SharedMemory memory, std::uint64_t nonce, std::uint64_t capacity_bytes)
      : memory_(std::move(memory)), nonce_(nonce), capacity_bytes_(capacity_bytes) {}
  static ring::Preamble preamble(std::uint64_t nonce, std::uint64_t capacity_bytes) {
    return {0x0001'7475'6f67'6164, nonce, capacity_bytes};  // "dagout", version 1
  }

  ring::SharedMemory memory_;
  std::uint64_t nonce_;
  std::size_t capacity_bytes_;
};

}  // namespace dag
