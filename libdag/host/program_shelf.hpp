#pragma once
// Decides which binaries of jobs a node removes, by when each was needed last. Gateway and host say
// which ones are still needed (GatewayMachine, HostMachine: needed_programs); nodes/workers keeps the
// bytes.
//
// A node that said HaveProgram keeps the binary for at least `held_for`, whatever it hears of the job. The
// node that was told so relies on that for a shorter time (GatewayMachine::believed_for).

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/keeper/messages.hpp"

namespace dag {

class ProgramShelf {
 public:
  explicit ProgramShelf(std::uint64_t room_bytes) : room_bytes_(room_bytes) {}

  /// The program is here, and was requested now.
  void use(ProgramId program, Instant now) { used_.insert_or_assign(program, now); }
  bool has(ProgramId program) const { return used_.contains(program); }
  /// Removes and returns programs that were not needed for `kept_for`, and as many more as it takes to make
  /// room for so many bytes, the longest unused first.
  std::vector<ProgramId> make_room(std::uint64_t bytes, const std::set<ProgramId>& needed, Instant now);

  /// The same binary may be submitted again within this time.
  static constexpr Duration kept_for = std::chrono::hours(1);
  /// No program is removed earlier, however much room is needed.
  static constexpr Duration held_for = std::chrono::minutes(10);

 private:
  const std::uint64_t room_bytes_;
  std::map<ProgramId, Instant> used_;
};

}  // namespace dag
