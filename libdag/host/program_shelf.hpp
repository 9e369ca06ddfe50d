#pragma once
// Which binaries of jobs a node lets go. Decides by when each was needed last; that a job still needs it is
// for others to say (GatewayMachine, HostMachine: needed_programs), and where the bytes lie is
// nodes/workers'.
//
// A node that said HaveProgram has the binary for `held_for` at least, whatever it hears of the job. Who was
// told so counts on it for a shorter time, until the job is there (GatewayMachine::believed_for).

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

  /// It is here, and somebody has asked for it now.
  void use(ProgramId program, Instant now) { used_.insert_or_assign(program, now); }
  bool has(ProgramId program) const { return used_.contains(program); }
  /// Those that go: what nobody has needed for `kept_for`, and as many more as it takes for so many bytes to
  /// have room, the one that was needed longest ago first. They are not here any more.
  std::vector<ProgramId> make_room(std::uint64_t bytes, const std::set<ProgramId>& needed, Instant now);

  /// Somebody may submit the same binary again.
  static constexpr Duration kept_for = std::chrono::hours(1);
  /// However much room is needed.
  static constexpr Duration held_for = std::chrono::minutes(10);

 private:
  const std::uint64_t room_bytes_;
  std::map<ProgramId, Instant> used_;
};

}  // namespace dag
