#pragma once
// Counts runs of tasks where no process of the cluster can lose the count: in a file of lines. Also work that
// takes a lane and no core, so that a test can have much of it.

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

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

/// Takes a while, so that something runs when a process is killed.
inline void work(int milliseconds = 20) { poll(nullptr, 0, milliseconds); }

/// Until the test has opened that gate (tests/cluster/gate.hpp), or the time is over; whether it is open.
inline bool wait_at(const std::string& gate, int milliseconds) {
  const int file = open(gate.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) throw std::runtime_error("no gate");
  pollfd opened{file, POLLIN, 0};
  const bool is_open = poll(&opened, 1, milliseconds) == 1;
  close(file);
  return is_open;
}

}  // namespace ledger
