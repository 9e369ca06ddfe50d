#pragma once
// Blob: immutable bytes, shared by reference when they are larger than a word. Every output and every literal
// argument is a Blob in every process, so values are handed over in one way.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace dag {

class Blob;
namespace detail {
/// Hides from the optimiser what it knows of a number or an address. GCC otherwise follows both branches of a
/// size and warns of a write that only the other branch makes.
template <class T>
T hidden(T value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}
/// Unfilled memory of this size; readable by the other processes of the host, if there are any.
Blob room_for(std::size_t size_bytes);
}  // namespace detail

/// Immutable bytes. Copying a Blob copies at most a word: up to 8 bytes lie in the Blob itself; more bytes
/// lie elsewhere, 64-byte aligned (their content can be read in place) and reference counted. A default Blob
/// holds nothing, which differs from holding zero bytes.
///
/// The output of a task that returns a Blob is not encoded. A large Blob made by `make` is not copied on its
/// way to a task in another process of the same host: that task reads it in place.
class Blob {
 public:
  /// The memory of the bytes when it is not the heap. Destroyed when no Blob refers to it any more.
  struct Owner {
    Owner() = default;
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    virtual ~Owner() = default;
  };

 private:
  struct Block {
    std::atomic<std::uint32_t> references;
    std::size_t size_bytes;
    std::byte* data;
    Owner* owner;
  };
  static constexpr std::size_t alignment = 64;
  static_assert(sizeof(Block) <= alignment);

 public:
  static constexpr std::size_t inline_bytes_max = 8;
  /// From this size on `make` uses memory that other processes of the host can read.
  static constexpr std::size_t large_bytes_min = 256 * 1024;

  /// A Blob as two plain values, for slots that threads share: the bytes or their address, and a mark that
  /// tells the two apart.
  struct Parts {
    static constexpr std::uint8_t nothing = 0, block = 15;  ///< between: one more than the inline size
    std::uint64_t word = 0;
    std::uint8_t kind = nothing;
  };

  Blob() = default;
  /// A copy of `bytes`.
  explicit Blob(std::span<const std::byte> bytes) {
    if (bytes.size() <= inline_bytes_max) {
      parts_.kind = static_cast<std::uint8_t>(bytes.size() + 1);
      if (!bytes.empty()) std::memcpy(&parts_.word, bytes.data(), bytes.size());
    } else {
      *this = heap(bytes.size());
      std::memcpy(block()->data, bytes.data(), bytes.size());
    }
  }
  /// Room for `size_bytes`, filled by `fill(std::byte*)` before anybody else sees it.
  template <class Fill>
  static Blob make(std::size_t size_bytes, Fill&& fill) {
    if (size_bytes < large_bytes_min) return make_on_heap(size_bytes, fill);
    Blob blob = detail::room_for(size_bytes);
    fill(blob.block()->data);
    return blob;
  }
  /// As `make`, in memory of this process alone.
  template <class Fill>
  static Blob make_on_heap(std::size_t size_bytes, Fill&& fill) {
    Blob blob;
    if (size_bytes <= inline_bytes_max) {
      blob.parts_.kind = static_cast<std::uint8_t>(size_bytes + 1);
      fill(detail::hidden(reinterpret_cast<std::byte*>(&blob.parts_.word)));
    } else {
      blob = heap(size_bytes);
      fill(blob.block()->data);
    }
    return blob;
  }
  /// Room on the heap, more than inline_bytes_max, to be filled before anybody else sees it.
  static Blob heap(std::size_t size_bytes) {
    void* memory = ::operator new (alignment + size_bytes, std::align_val_t{alignment});
    return of(new (memory) Block{{1}, size_bytes, static_cast<std::byte*>(memory) + alignment, nullptr});
  }
  /// More than inline_bytes_max bytes that lie in the owner's memory, 64-byte aligned.
  static Blob adopt(std::byte* data, std::size_t size_bytes, std::unique_ptr<Owner> owner) {
    void* memory = ::operator new (sizeof(Block), std::align_val_t{alignment});
    return of(new (memory) Block{{1}, size_bytes, data, owner.release()});
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
  /// Valid as long as this Blob. (A copy of this Blob, or the Blob it was moved to, has the same bytes; they
  /// lie at the same place if on_heap().)
  std::span<const std::byte> bytes() const {
    if (on_heap()) return {block()->data, block()->size_bytes};
    if (parts_.kind == Parts::nothing) return {};
    return {reinterpret_cast<const std::byte*>(&parts_.word), size_bytes()};
  }
  /// Null: the bytes lie in the Blob itself, or on the heap.
  const Owner* owner() const { return on_heap() ? block()->owner : nullptr; }
  /// True: all copies share the bytes, at one address.
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
  static Blob of(Block* block) {
    Blob blob;
    blob.parts_ = {reinterpret_cast<std::uintptr_t>(block), Parts::block};
    return blob;
  }
  static void release(Block* block) {
    if (block->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    delete block->owner;
    ::operator delete (block, std::align_val_t{alignment});
  }

  Parts parts_;
};

}  // namespace dag
