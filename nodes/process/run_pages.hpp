#pragma once
// What the lanes of each process of a run (`dag run -n N`) are at, in memory that they share: when one is
// gone, the others read there what it ran, and which of it took the process down (promise P7). They have it
// from their launcher; without one each has its own, and nobody knows.

#include "actors/lanes/running_page.hpp"
#include "libdag/cell/command.hpp"

namespace dag {

class RunPages {
 public:
  /// `file`: an open descriptor that all of them have, and that stays open; -1: there is none. Where it
  /// cannot be made long enough each has its own, too.
  RunPages(int file, std::uint32_t rank, std::uint32_t size);
  ~RunPages();
  RunPages(const RunPages&) = delete;
  RunPages& operator=(const RunPages&) = delete;

  /// Of this process. Faults of its lanes are noted there from now on.
  RunningPage& own() const { return pages_[shared_ ? rank_ : 0]; }
  /// Of one that has died.
  LifeEnd end_of(std::uint32_t rank) const;

 private:
  const std::uint32_t rank_, size_;
  const bool shared_;
  RunningPage* const pages_;  // One per rank when shared, else our own.
};

}  // namespace dag
