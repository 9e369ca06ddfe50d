#pragma once
// A gate at which kernels of a job wait until the test opens it.

#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "tests/cluster/nodes.hpp"

namespace cluster {

class Gate {
 public:
  Gate() { REQUIRE(mkfifo(path().c_str(), 0600) == 0); }
  ~Gate() {
    if (file_ >= 0) close(file_);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  std::string path() const { return directory_.path().string() + "/gate"; }
  /// Waits for no reader, so later readers pass as well. The byte is for readers that poll.
  void open() {
    if (file_ >= 0) return;
    file_ = ::open(path().c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(file_ >= 0);
    REQUIRE(write(file_, "", 1) == 1);
  }

 private:
  dag::test::TemporaryDirectory directory_;
  int file_ = -1;
};

}  // namespace cluster
