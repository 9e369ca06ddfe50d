#include "nodes/process/parts.hpp"

#include <sched.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "actors/exceptions.hpp"
#include "actors/ports.hpp"
#include "libdag/base/process_barrier.hpp"
#include "libdag/outputs/arena.hpp"
#include "nodes/machine/cores.hpp"

namespace dag {

std::shared_ptr<spdlog::logger> make_logger(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("dag", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l dag: %v");
  logger->set_level(spdlog::level::from_str(level));
  return logger;
}

SystemConfig::SystemConfig() {
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", std::size_t{2});
  set("logger.verbosity", caf::atom("quiet"));
}

void when_it_fails(const caf::actor& actor, std::function<void(Error why)> end) {
  caf::actor_cast<caf::abstract_actor*>(actor)->attach_functor(
      [end = std::move(end)](const caf::error& reason) {
        if (reason && reason != caf::exit_reason::user_shutdown) end(error_of(reason, "this process"));
      });
}

void end_actors(const std::vector<caf::actor>& actors) {
  for (const caf::actor& actor : actors) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  actors.front()->home_system().await_all_actors_done();
}

std::unique_ptr<Transport> open_or_end(const std::vector<caf::actor>& actors, TransportSetup setup,
                                       std::unique_ptr<TransportEvents> events) {
  auto opened = Transport::open(std::move(setup), std::move(events));
  if (opened) return std::move(opened).value();
  end_actors(actors);
  throw Failure(opened.error());
}

void warn_of_slow_barriers(spdlog::logger& log) {
  if (process_barrier_allowed) return;
  log.warn("the kernel refuses membarrier(2), as some containers do: each task takes somewhat longer");
}

std::shared_ptr<ring::Doorbell> make_doorbell(spdlog::logger& log) {
  Result<ring::Doorbell> doorbell = ring::Doorbell::create(draw_number());
  if (!doorbell) {
    log.warn("no rings: {}", doorbell.error().what);
    return nullptr;
  }
  return std::make_shared<ring::Doorbell>(std::move(doorbell).value());
}

static std::size_t memory_of_machine() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void begin_arena() {
  arena::begin(draw_number(),
               {.waiting_bytes_max = std::min(ArenaLimits{}.waiting_bytes_max, memory_of_machine() / 16)});
}

std::uint64_t room_for_released() {
  constexpr std::size_t at_most = std::size_t{1} << 30;
  return std::min(at_most, memory_of_machine() / 32);
}

bool may_leave_loopback() {
  const char* value = std::getenv("DAG_BEYOND_LOOPBACK");
  return value != nullptr && std::string_view(value) == "1";
}

// With a tenth of the weight, but turns as short as can be had (0.1 ms, sched_setattr(2); kernels before 6.12
// do not look at their length): a thread with shorter turns is served sooner. That matters when the process
// is killed. Each thread runs once more then, and its sockets are closed, by which others know, when the last
// one has; with the weight alone that took 80 to 200 ms on busy processors.
void give_way() {
  constexpr std::int32_t niceness = 10;
  constexpr std::uint64_t turn_ns = 100'000;
  struct {  // sched_attr: some systems' headers have none, and some have one that <sched.h> is in the way of.
    std::uint32_t size = 48, policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = niceness;
    std::uint32_t priority = 0;
    std::uint64_t runtime_ns = turn_ns, deadline_ns = 0, period_ns = 0;
  } attributes;
  static_assert(sizeof attributes == 48);
  // For this thread alone. Some sandboxes know only the older call; no harm where both are refused.
  if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0)
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);
}

LoadSummary load_of(const Lanes& lanes, CoreShare share) {
  static const std::uint64_t of_host =
      topology_of_host().memory_bytes;  // Does not change, and takes a while to ask.
  const std::uint64_t memory = share_of(of_host, share);
  LoadSummary load;
  load.devices.push_back(
      {"cpu", static_cast<std::uint32_t>(lanes.count()), lanes.idle(), memory, memory, Duration{0}});
  load.tasks_ready = static_cast<std::uint32_t>(lanes.queued());
  return load;
}

MembershipOptions patience_on_one_host() {
  MembershipOptions options;
  options.heartbeat = std::chrono::milliseconds(500);
  options.suspect_after = std::chrono::seconds(4);
  options.dead_after = std::chrono::seconds(2);
  options.reconnect_within = std::chrono::milliseconds(250);
  return options;
}

Duration election_timeout_on_one_host() { return 3 * RecordOptions{}.election_timeout; }

}  // namespace dag
