#pragma once
// The running tasks of the lanes of each process of a run (`dag run -n N`), in memory that they share: when a
// process is gone, the others read there which tasks it ran, and which of them took the process down (promise
// P7). The launcher provides the memory; without a launcher each process has its own, and nobody knows.

#include "actors/lanes/running_page.hpp"
#include "libdag/cell/command.hpp"

namespace dag {

class RunPages {
 public:
  /// `file`: an open descriptor that all processes have, and that stays open; -1: there is none. Where the
  /// file cannot be made long enough each process has its own page, too.
  RunPages(int file, std::uint32_t rank, std::uint32_t size);
  ~RunPages();
  RunPages(const RunPages&) = delete;
  RunPages& operator=(const RunPages&) = delete;

  /// The page of this process. Faults of its lanes are noted there from now on.
  RunningPage& own() const { return pages_[shared_ ? rank_ : 0]; }
  /// The end of a process that has died.
  LifeEnd end_of(std::uint32_t rank) const;

 private:
  const std::uint32_t rank_, size_;
  const bool shared_;
  RunningPage* const pages_;  // A page per rank when shared, else only our own.
};

}  // namespace dag
