#include "libdag/ring/offer.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <new>

namespace dag::ring {
namespace {

constexpr std::uint64_t kind_of_ring = 0x0001'676e'6972'6764;  // "dgring", version 1
constexpr std::uint64_t words_offset = sizeof(Positions<std::atomic>);

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));
static_assert(alignof(Positions<std::atomic>) <= SharedMemory::content_offset);
static_assert(is_capacity(inbox_capacity_bytes) && inbox_capacity_bytes <= inbox_capacity_bytes_max);

Preamble preamble_of(std::uint64_t nonce, std::uint64_t capacity_bytes) {
  return {kind_of_ring, nonce, words_offset + capacity_bytes};
}

Error not_here(std::string what) { return {ErrorCode::ring_unavailable, std::move(what)}; }

}  // namespace

Result<Host> this_host() {
  Host host;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> host.boot;
  struct stat status {};
  if (host.boot.empty() || stat("/proc/self/ns/pid", &status) != 0) {
    return not_here("/proc does not say which host this is");
  }
  host.process_namespace = status.st_ino;
  return host;
}

Result<RingMemory> RingMemory::create(std::uint64_t nonce, std::uint64_t capacity_bytes) {
  DAG_CHECK(is_capacity(capacity_bytes) && capacity_bytes <= inbox_capacity_bytes_max);
  Result<SharedMemory> memory = SharedMemory::create(preamble_of(nonce, capacity_bytes));
  if (!memory) return memory.error();
  new (memory->content()) Positions<std::atomic>;
  auto* const words = memory->content() + words_offset;
  for (std::uint64_t at = 0; at < capacity_bytes; at += word_bytes) {
    new (words + at) std::atomic<std::uint64_t>(0);
  }
  return RingMemory(std::move(*memory), nonce, capacity_bytes);
}

Result<RingMemory> RingMemory::open(const Offer& offer) {
  if (!is_capacity(offer.capacity_bytes) || offer.capacity_bytes > inbox_capacity_bytes_max) {
    return not_here("a ring of " + std::to_string(offer.capacity_bytes) + " bytes was offered");
  }
  Result<SharedMemory> memory = SharedMemory::open(offer.process, offer.inbox_file,
                                                   preamble_of(offer.inbox_nonce, offer.capacity_bytes));
  if (!memory) return memory.error();
  return RingMemory(std::move(*memory), offer.inbox_nonce, offer.capacity_bytes);
}

View<std::atomic> RingMemory::view() const {
  std::byte* const content = memory_.content();
  return {std::launder(reinterpret_cast<Positions<std::atomic>*>(content)),
          std::launder(reinterpret_cast<std::atomic<std::uint64_t>*>(content + words_offset)),
          capacity_bytes_};
}

Result<Offer> offer(const RingMemory& inbox, const Doorbell& own) {
  Result<Host> host = this_host();
  if (!host) return host.error();
  return Offer{std::move(*host), getpid(),    inbox.file(),          own.file(),
               inbox.nonce(),    own.nonce(), inbox.capacity_bytes()};
}

Result<Outbound> accept(const Offer& offer) {
  Result<Host> host = this_host();
  if (!host) return host.error();
  if (offer.host.boot != host->boot) return not_here("not the same host");
  if (offer.host.process_namespace != host->process_namespace)
    return not_here("not the same process namespace");
  if (offer.process <= 0 || offer.inbox_file < 0 || offer.doorbell_file < 0)
    return not_here("an offer of nothing");
  Result<RingMemory> ring = RingMemory::open(offer);
  if (!ring) return ring.error();
  Result<Doorbell> doorbell = Doorbell::open(offer.process, offer.doorbell_file, offer.doorbell_nonce);
  if (!doorbell) return doorbell.error();
  return Outbound{std::move(*ring), std::move(*doorbell)};
}

}  // namespace dag::ring
