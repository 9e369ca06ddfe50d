#pragma once
// The parts that every kind of process of libdag shares: its clock, its log, CAF's pool.

#include <spdlog/spdlog.h>

#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <string>

#include "actors/lanes/lanes.hpp"
#include "libdag/membership/claim.hpp"
#include "libdag/membership/options.hpp"
#include "nodes/machine/clock.hpp"
#include "nodes/machine/cores.hpp"
#include "nodes/machine/draw_number.hpp"
#include "nodes/transport/transport.hpp"

namespace dag {

/// To stderr, one line each.
std::shared_ptr<spdlog::logger> make_logger(const std::string& level);

/// CAF runs supervision only: few threads, never its own work stealing (its queues walk lists under
/// spinlocks).
struct SystemConfig : caf::actor_system_config {
  SystemConfig();
};

/// Without keys any process that reaches a port can pretend to be another: so every process listens on
/// loopback only, but for tests in network namespaces, which set DAG_BEYOND_LOOPBACK=1.
bool may_leave_loopback();

/// Calls `end`, on any thread, when that actor has failed: its process must end then, not go on as half of
/// one. Other processes notice its end, and recover.
void when_it_fails(const caf::actor& actor, std::function<void(Error why)> end);

/// The actors must end before what they use is destroyed. Returns when all actors of their system have.
void end_actors(const std::vector<caf::actor>& actors);

/// The transport of a process whose actors are there already. When it cannot be opened these are ended, since
/// their system waits for them, and the reason is thrown.
std::unique_ptr<Transport> open_or_end(const std::vector<caf::actor>& actors, TransportSetup setup,
                                       std::unique_ptr<TransportEvents> events);

/// A line in the log where the kernel refuses membarrier(2): lanes need full barriers then, and tasks take
/// longer.
void warn_of_slow_barriers(spdlog::logger& log);

/// The bell on which the lanes of a process with peers sleep. Null, with a line in the log: it could not be
/// made, and the process speaks with all peers through the transport.
std::shared_ptr<ring::Doorbell> make_doorbell(spdlog::logger& log);
/// For a process with peers: large outputs, its own and those it fetches, lie in memory that is used again,
/// and that a peer with a ring can read. Until arena::end().
void begin_arena();
/// Bytes of released outputs that stay for clients that ask late (HomeOptions).
std::uint64_t room_for_released();

/// The calling thread gives way to others: its work has no hurry.
void give_way();

/// The load that a process with these lanes gossips; `share` is the process's part of the host.
LoadSummary load_of(const Lanes& lanes, CoreShare share);

/// Processes of one host see a death by its broken connection within milliseconds; so silence may be given
/// the time that a busy machine needs.
MembershipOptions patience_on_one_host();
/// Likewise the election timeout of a record's leader: three times as long as elsewhere.
Duration election_timeout_on_one_host();

}  // namespace dag
