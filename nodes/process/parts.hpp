#pragma once
// What every kind of process of libdag is built of in the same way: its clock, its log, CAF's pool.

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

/// CAF runs what supervises: few threads, never its own work stealing (its queues walk lists under
/// spinlocks).
struct SystemConfig : caf::actor_system_config {
  SystemConfig();
};

/// Until there are keys, whoever reaches a port can speak as anybody: so every process listens on loopback
/// only, but for tests in network namespaces, which set DAG_BEYOND_LOOPBACK=1.
bool may_leave_loopback();

/// Calls `end`, on any thread, when that actor has failed: its process is to end then, not to go on as half
/// of one. Others find out that it is gone, and recover.
void when_it_fails(const caf::actor& actor, std::function<void(Error why)> end);

/// These have to end before what they use is destroyed. Returns when all actors of their system have.
void end_actors(const std::vector<caf::actor>& actors);

/// The transport of a process whose actors are there already. When it cannot be opened these are ended, since
/// their system waits for them, and the reason is thrown.
std::unique_ptr<Transport> open_or_end(const std::vector<caf::actor>& actors, TransportSetup setup,
                                       TransportEvents events);

/// Where the lanes of a process sleep that has others beside it. Null, with a line in the log: it has none,
/// and speaks with all through the transport.
std::shared_ptr<ring::Doorbell> make_doorbell(spdlog::logger& log);
/// Of a process that has others beside it: large outputs, its own and those it fetches, lie in memory that is
/// used again, and that a peer with a ring can read. Until arena::end().
void begin_arena();
/// How much of outputs that no task will read any more stays for clients that ask late (HomeOptions).
std::uint64_t room_for_released();
/// Rings come to these lanes and go.
void hand_rings_to(Lanes& lanes, TransportEvents& events, const std::shared_ptr<spdlog::logger>& log);

/// The calling thread does what has no hurry: others go first.
void give_way();

/// The load that a process with these lanes gossips; `share` is the process's part of the host.
LoadSummary load_of(const Lanes& lanes, CoreShare share);

/// Processes of one host see a death by its broken connection within milliseconds; so silence may be given
/// the time that a busy machine needs.
MembershipOptions patience_on_one_host();
/// Likewise that of who leads a record: three times what it is elsewhere.
Duration election_timeout_on_one_host();

}  // namespace dag
