#include "libdag/host/program_shelf.hpp"

#include <algorithm>

namespace dag {

std::vector<ProgramId> ProgramShelf::make_room(std::uint64_t bytes, const std::set<ProgramId>& needed,
                                               Instant now) {
  std::uint64_t taken = 0;
  std::vector<std::pair<Instant, ProgramId>> idle;
  for (auto& [program, used] : used_) {
    if (needed.contains(program)) used = now;
    taken += program.size_bytes;
    if (now - used >= held_for) idle.emplace_back(used, program);
  }
  std::sort(idle.begin(), idle.end());
  std::vector<ProgramId> gone;
  for (const auto& [used, program] : idle) {
    if (now - used < kept_for && taken + bytes <= room_bytes_) break;
    taken -= program.size_bytes;
    used_.erase(program);
    gone.push_back(program);
  }
  return gone;
}

}  // namespace dag
