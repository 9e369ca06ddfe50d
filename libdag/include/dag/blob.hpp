#pragma once
// Blob: bytes that never change once made, shared by reference where they are more than a word. Every output
// and every literal argument is one, in every process, so there is one way to hand a value over.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace dag {

/// Immutable bytes. Copying a Blob never copies more than a word: up to 8 bytes lie in the Blob itself, more
/// of them on the heap, 64-byte aligned (what is inside can be read in place) and counted by reference. A
/// default one holds nothing, which is different from holding no bytes.
class Blob {
  struct Block {
    std::atomic<std::uint32_t> references;
    std::size_t size_bytes;
  };
  static constexpr std::size_t alignment = 64;
  static_assert(sizeof(Block) <= alignment);

 public:
  static constexpr std::size_t inline_bytes_max = 8;

  /// A Blob as two plain values, for slots that threads share: the bytes themselves or where they lie, and
  /// which of the two.
  struct Parts {
    static constexpr std::uint8_t nothing = 0, block = 15;  ///< between: one more than the inline size
    std::uint64_t word = 0;
    std::uint8_t kind = nothing;
  };

  Blob() = default;
  /// A copy of `bytes`.
  explicit Blob(std::span<const std::byte> bytes)
      : Blob(make(bytes.size(), [bytes](std::byte* data) {
          if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
        })) {}
  /// Room for `size_bytes`, filled by `fill(std::byte*)` before anybody else sees it.
  template <class Fill>
  static Blob make(std::size_t size_bytes, Fill&& fill) {
    Blob blob;
    if (size_bytes <= inline_bytes_max) {
      blob.parts_.kind = static_cast<std::uint8_t>(size_bytes + 1);
      fill(reinterpret_cast<std::byte*>(&blob.parts_.word));
    } else {
      Block* block = allocate(size_bytes);
      blob.parts_ = {reinterpret_cast<std::uintptr_t>(block), Parts::block};
      fill(data(block));
    }
    return blob;
  }

  Blob(const Blob& other) : parts_(other.parts_) {
    if (on_heap()) block()->references.fetch_add(1, std::memory_order_relaxed);
  }
  Blob(Blob&& other) noexcept : parts_(other.detach()) {}
  Blob& operator=(Blob other) noexcept {
    std::swap(parts_, other.parts_);
    return *this;
  }
  ~Blob() {
    if (on_heap()) release(block());
  }

  explicit operator bool() const { return parts_.kind != Parts::nothing; }
  std::size_t size_bytes() const {
    if (on_heap()) return block()->size_bytes;
    return parts_.kind == Parts::nothing ? 0 : parts_.kind - std::size_t{1};
  }
  /// Valid as long as this Blob. (A copy of it or what it was moved to has the same bytes; whether they lie
  /// at the same place depends on on_heap().)
  std::span<const std::byte> bytes() const {
    if (on_heap()) return {data(block()), block()->size_bytes};
    if (parts_.kind == Parts::nothing) return {};
    return {reinterpret_cast<const std::byte*>(&parts_.word), size_bytes()};
  }
  /// Whether all copies share the bytes, at one address.
  bool on_heap() const { return parts_.kind == Parts::block; }
  bool same_bytes(const Blob& other) const {
    return size_bytes() == other.size_bytes() &&
           (size_bytes() == 0 || std::memcmp(bytes().data(), other.bytes().data(), size_bytes()) == 0);
  }

  /// For slots: gives up, or takes back, what is held.
  Parts detach() { return std::exchange(parts_, Parts{}); }
  static Blob attach(Parts detached) {
    Blob blob;
    blob.parts_ = detached;
    return blob;
  }

 private:
  Block* block() const { return reinterpret_cast<Block*>(static_cast<std::uintptr_t>(parts_.word)); }
  static std::byte* data(Block* block) { return reinterpret_cast<std::byte*>(block) + alignment; }

  static Block* allocate(std::size_t size_bytes) {
    void* memory = ::operator new (alignment + size_bytes, std::align_val_t{alignment});
    return new (memory) Block{{1}, size_bytes};
  }
  static void release(Block* block) {
    if (block->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      ::operator delete (block, std::align_val_t{alignment});
    }
  }

  Parts parts_;
};

}  // namespace dag
