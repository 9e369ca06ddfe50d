#pragma once
// Memory that processes of a host share, without a name in any file system: a sealed memfd. Nothing of it is
// left when the last of them is gone, however it ended. Another process of the same user opens it through
// /proc, by the creator's process id and descriptor number; the nonce in its preamble proves that it is the
// intended memory, and not that of another process under the same numbers.
//
// Its size is sealed, so that no process can truncate it under our feet (SIGBUS); unsealed memory is not
// mapped.

#include <cstddef>
#include <cstdint>

#include "libdag/base/result.hpp"

namespace dag::ring {

/// At the beginning of the memory; the content follows at `content_offset`.
struct Preamble {
  std::uint64_t kind = 0;  ///< of the content, with its version
  std::uint64_t nonce = 0;
  std::uint64_t content_bytes = 0;
  bool operator==(const Preamble&) const = default;
};

enum class Access : std::uint8_t { read_write, read_only };

class SharedMemory {
 public:
  static constexpr std::size_t content_offset = 128;
  static_assert(sizeof(Preamble) <= content_offset);

  /// Filled with zeros; all pages are allocated.
  static Result<SharedMemory> create(const Preamble& preamble);
  /// Opens memory of another process of this host: only with this preamble, its size, and the seals.
  static Result<SharedMemory> open(std::int32_t process, std::int32_t file, const Preamble& expected,
                                   Access access = Access::read_write);
  /// As open, for a descriptor that came another way. It is not closed.
  static Result<SharedMemory> map(int file, const Preamble& expected, Access access = Access::read_write);

  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  std::byte* content() const { return mapped_ + content_offset; }
  /// The creator's, for others to open; -1 in the others.
  int file() const { return file_; }

 private:
  SharedMemory(std::byte* mapped, std::size_t bytes, int file)
      : mapped_(mapped), bytes_(bytes), file_(file) {}
  static Result<SharedMemory> map_sealed(int file, std::size_t bytes, Access access);

  std::byte* mapped_ = nullptr;
  std::size_t bytes_ = 0;
  int file_ = -1;
};

}  // namespace dag::ring
