// Writes the bytes of a value. Not inlined into the code of users: GCC would warn of operations on a
// std::vector there.

#include "dag/codec.hpp"

namespace dag {

void Writer::append(const void* data, std::size_t size_bytes) {
  if (size_bytes == 0) return;
  const auto* first = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), first, first + size_bytes);
}

void Writer::align(std::size_t alignment) {
  bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
}

void Writer::count(std::size_t value) {
  const std::uint64_t wide = value;
  append(&wide, sizeof wide);
}

}  // namespace dag
