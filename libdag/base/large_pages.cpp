#include "libdag/base/large_pages.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace dag {

void use_large_pages(const void* begin, std::size_t size_bytes) {
  constexpr std::uintptr_t page_bytes = std::uintptr_t{2} << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + page_bytes - 1) / page_bytes * page_bytes;
  const std::uintptr_t end = (address + size_bytes) / page_bytes * page_bytes;
  // Refused where the kernel was built without them: then pages stay small.
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace dag
