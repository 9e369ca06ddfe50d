#pragma once
// Journals as nodes leave them, for tests of what reads them.

#include <filesystem>
#include <fstream>
#include <vector>

#include "libdag/record/journal.hpp"

namespace dag::test {

/// A file with these records, of a node whose clock began 1,000 s after 1970.
inline void write_journal(const std::filesystem::path& file, std::uint32_t node,
                          const std::vector<Record>& records) {
  std::filesystem::create_directories(file.parent_path());
  JournalWriter writer;
  for (const Record& record : records) writer.add(record);
  std::ofstream out(file, std::ios::binary);
  for (const auto& bytes : {encode_head({{{node}, {1}}, 1'000'000'000'000}), writer.take_block()})
    out.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

}  // namespace dag::test
