#pragma once
// What runs how often, said where no process of the cluster can lose it: a file of lines.

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ledger {

inline void enter(const std::string& file_name, int number) {
  const std::string line = std::to_string(number) + "\n";
  const int file = open(file_name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || write(file, line.data(), line.size()) < 0)
    throw std::runtime_error("cannot write the ledger");
  close(file);
}

/// For a while, so that something runs when somebody is killed.
inline void work() {
  volatile std::uint64_t busy = 0;
  for (std::uint64_t i = 0; i < 20'000'000; ++i) busy = busy + i;
}

}  // namespace ledger
