#pragma once
// Wakes a poll from other threads without touching a socket. For the .cpp files of libdag/net.

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace dag::net {

class Waker {
 public:
  Waker() : file_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("eventfd: no file descriptor left");
  }
  ~Waker() { close(file_); }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  int file() const { return file_; }
  void wake() noexcept {
    const std::uint64_t one = 1;
    // Fails only when the counter is full, and then poll wakes anyway.
    [[maybe_unused]] const auto written = write(file_, &one, sizeof one);
  }
  void clear() noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(file_, &count, sizeof count);
  }

 private:
  int file_;
};

}  // namespace dag::net
