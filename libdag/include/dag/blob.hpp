#pragma once
// Blob: bytes that never change once made, shared by reference. Every output and every literal argument is
// one, in every process, so there is one way to hand a value over.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace dag {

/// Immutable bytes, 64-byte aligned (what is inside can be read in place), counted by reference. Copying a
/// Blob never copies bytes. A default one holds nothing, which is different from holding no bytes.
class Blob {
  struct Block {
    std::atomic<std::uint32_t> references;
    std::size_t size_bytes;
  };
  static constexpr std::size_t alignment = 64;
  static_assert(sizeof(Block) <= alignment);

 public:
  Blob() = default;
  /// A copy of `bytes`.
  explicit Blob(std::span<const std::byte> bytes) : block_(allocate(bytes.size())) {
    if (!bytes.empty()) std::memcpy(data(block_), bytes.data(), bytes.size());
  }
  /// Room for `size_bytes`, filled by `fill(std::byte*)` before anybody else sees it.
  template <class Fill>
  static Blob make(std::size_t size_bytes, Fill&& fill) {
    Blob blob;
    blob.block_ = allocate(size_bytes);
    fill(data(blob.block_));
    return blob;
  }

  Blob(const Blob& other) : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Blob(Blob&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Blob& operator=(Blob other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Blob() { release(block_); }

  explicit operator bool() const { return block_ != nullptr; }
  std::size_t size_bytes() const { return block_ == nullptr ? 0 : block_->size_bytes; }
  std::span<const std::byte> bytes() const {
    if (block_ == nullptr) return {};
    return {data(block_), block_->size_bytes};
  }
  bool same_bytes(const Blob& other) const {
    return size_bytes() == other.size_bytes() &&
           (size_bytes() == 0 || std::memcmp(data(block_), data(other.block_), size_bytes()) == 0);
  }

  /// For slots that keep a Blob as one word: gives up, or takes back, the reference.
  void* detach() { return std::exchange(block_, nullptr); }
  static Blob attach(void* detached) {
    Blob blob;
    blob.block_ = static_cast<Block*>(detached);
    return blob;
  }

 private:
  static std::byte* data(Block* block) { return reinterpret_cast<std::byte*>(block) + alignment; }

  static Block* allocate(std::size_t size_bytes) {
    void* memory = ::operator new (alignment + size_bytes, std::align_val_t{alignment});
    return new (memory) Block{{1}, size_bytes};
  }
  static void release(Block* block) {
    if (block != nullptr && block->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      ::operator delete (block, std::align_val_t{alignment});
    }
  }

  Block* block_ = nullptr;
};

}  // namespace dag
