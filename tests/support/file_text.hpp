#pragma once
// Files and text, for tests that write one and look into the other.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

namespace dag::test {

/// The bytes of `text`, which must outlive them.
inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// All of a file; empty when it cannot be read.
inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace dag::test
