#pragma once
// Journals as nodes leave them, for tests of their readers.

#include <filesystem>
#include <fstream>
#include <vector>

#include "libdag/journal/journal.hpp"

namespace dag::test {

/// A file with these records, of a node whose clock began 1,000 s after 1970.
inline void write_journal(const std::filesystem::path& file, std::uint32_t node,
                          const std::vector<JournalEvent>& records) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  const auto write = [&out](const std::vector<std::byte>& bytes) {
    out.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  };
  write(encode_head({{{node}, {1}}, 1'000'000'000'000}));
  JournalWriter writer;
  constexpr std::size_t block = 500;
  for (std::size_t i = 0; i < records.size(); ++i) {
    writer.add(records[i]);
    if (i % block == block - 1) write(writer.take_block());
  }
  write(writer.take_block());
}

}  // namespace dag::test
