#pragma once
// A file descriptor with an owner.

#include <unistd.h>

#include <utility>

namespace dag {

/// Closed by the destructor, unless it was taken. Negative: none.
class OwnedFile {
 public:
  OwnedFile() = default;
  explicit OwnedFile(int number) : number_(number) {}
  ~OwnedFile() { reset(); }
  OwnedFile(OwnedFile&& other) noexcept : number_(other.take()) {}
  OwnedFile& operator=(OwnedFile&& other) noexcept {
    reset(other.take());
    return *this;
  }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int take() { return std::exchange(number_, -1); }
  void reset(int number = -1) {
    const int old = std::exchange(number_, number);
    if (old >= 0) close(old);
  }

 private:
  int number_ = -1;
};

}  // namespace dag
