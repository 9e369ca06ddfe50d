#include "libdag/keeper/node_room.hpp"

#include <algorithm>

namespace dag {
namespace {

// Measured on a node with 0 to 30 jobs and clients (`ls /proc/PID/fd`), and rounded up. A job's own worker
// process has sockets, a page, rings and a log; the worker processes of the other nodes have sockets.
constexpr std::uint64_t files_of_node = 64, files_of_peer = 8, files_of_client = 6, files_of_job = 12,
                        files_of_job_at_peer = 4;
/// A warden, and the threads of a worker process beside its lanes.
constexpr std::uint64_t processes_of_job = 12;
/// Kept free for what kernels start, and for the node itself.
constexpr std::uint64_t processes_kept_free = 64;
/// The part of the files that clients may have, in percent.
constexpr std::uint64_t clients_percent = 40;

std::uint64_t beyond(std::uint64_t limit, std::uint64_t taken) { return limit - std::min(limit, taken); }

void bound(std::uint64_t& room, std::string& by, std::uint64_t count, const std::string& limit) {
  if (count >= room) return;
  room = std::max<std::uint64_t>(count, 1);
  by = limit;
}

Error no_room(const std::string& name, const char* doing, std::uint64_t count, const char* things,
              const std::string& by, const char* hint) {
  return {ErrorCode::limit_reached,
          name + " " + doing + " " + std::to_string(count) + " " + things + (count == 1 ? "" : "s") +
              ", as many as its limit of " + by + " has room for",
          hint};
}

}  // namespace

NodeRoom room_of(const NodeLimits& limits, std::size_t nodes) {
  const std::uint64_t peers = std::max<std::uint64_t>(nodes, 1) - 1;
  NodeRoom room;
  if (limits.files > 0) {
    const std::string by = std::to_string(limits.files) + " open files (ulimit -n)";
    const std::uint64_t free = beyond(limits.files, files_of_node + files_of_peer * peers);
    const std::uint64_t of_clients = free * clients_percent / 100;
    bound(room.clients, room.clients_by, of_clients / files_of_client, by);
    bound(room.jobs, room.jobs_by, (free - of_clients) / (files_of_job + files_of_job_at_peer * peers), by);
  }
  for (const NodeLimits::Processes& one : limits.processes) {
    const std::uint64_t free =
        beyond(one.limit, one.used + processes_kept_free) / std::max<std::uint32_t>(limits.nodes_of_host, 1);
    bound(room.jobs, room.jobs_by, free / (processes_of_job + limits.lanes),
          std::to_string(one.limit) + " " + one.what);
  }
  return room;
}

Error no_room_for_job(const std::string& name, const NodeRoom& room) {
  return no_room(name, "runs processes of", room.jobs, "job", room.jobs_by,
                 "the job starts when another job has ended; or raise the limit, or add a node");
}

Error no_room_for_client(const std::string& name, const NodeRoom& room) {
  return no_room(name, "serves", room.clients, "client", room.clients_by,
                 "try again when another client has ended; or raise the limit, or use another node");
}

}  // namespace dag
