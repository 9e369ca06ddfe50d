#include "nodes/disk/incarnation.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <limits>

#include "libdag/host/host.hpp"
#include "nodes/disk/durable_file.hpp"
#include "nodes/machine/draw_number.hpp"

namespace dag {
namespace {

static_assert(incarnations_apart >= HostMachine::rounds_max);

std::string file_in(const std::string& directory) { return directory + "/incarnation"; }

}  // namespace

Result<Incarnation> next_incarnation(std::optional<Incarnation> kept, Incarnation at_least) {
  const auto clock = static_cast<std::uint64_t>(std::max<std::time_t>(std::time(nullptr), 0));
  std::uint64_t next = kept ? std::max(clock, std::uint64_t{kept->value} + incarnations_apart)
                            : clock + draw_number() % incarnations_apart;
  next = std::max<std::uint64_t>(next, at_least.value);
  if (next > std::numeric_limits<std::uint32_t>::max() - incarnations_apart) {
    return Error{ErrorCode::configuration_invalid, "this node has used all its incarnations",
                 "give it an id that no node of this cluster has had"};
  }
  return Incarnation{static_cast<std::uint32_t>(next)};
}

std::optional<Incarnation> kept_incarnation(const std::string& directory) {
  if (directory.empty()) return std::nullopt;
  std::ifstream file(file_in(directory));
  std::uint32_t kept = 0;
  return file >> kept ? std::optional(Incarnation{kept}) : std::nullopt;
}

bool keep_incarnation(Files& files, const std::string& directory, Incarnation incarnation) {
  const std::string line = std::to_string(incarnation.value) + "\n";
  return static_cast<bool>(write_whole(files, file_in(directory), std::as_bytes(std::span(line))));
}

}  // namespace dag
