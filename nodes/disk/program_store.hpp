#pragma once
// The binaries of jobs, by their content: sealed memory that nobody can change after its hash was checked,
// and from which worker processes are started. libdag/host/program_shelf decides when a binary goes.

#include <map>
#include <mutex>
#include <set>

#include "dag/blob.hpp"
#include "libdag/base/result.hpp"
#include "libdag/keeper/messages.hpp"

namespace dag {

ProgramId identify(std::span<const std::byte> program);
/// The file that this process was started from. Throws Failure(program_invalid) when it cannot be read.
Blob program_of_this_process();

class ProgramStore {
 public:
  ProgramStore() = default;
  ~ProgramStore();
  ProgramStore(const ProgramStore&) = delete;
  ProgramStore& operator=(const ProgramStore&) = delete;

  /// program_invalid: not what `id` says, or not a program of this machine; disk_full: no memory for it, or
  /// more than programs_bytes_max in all. From any thread.
  Status put(ProgramId id, const Blob& bytes);
  /// The memory is free again when the last process that was started from the program has ended.
  void drop(ProgramId id);
  /// Open until it is dropped; empty when it is not here.
  std::optional<int> descriptor(ProgramId id) const;
  /// Null when it is not here.
  Blob bytes(ProgramId id) const;
  /// All that are here.
  std::set<ProgramId> ids() const;

  static constexpr std::uint64_t programs_bytes_max = std::uint64_t{4} << 30;

 private:
  mutable std::mutex mutex_;
  std::map<ProgramId, int> programs_;
  std::uint64_t bytes_ = 0;
};

}  // namespace dag
