// The half of WorkerProcesses that gives a job a process: one that is warm, or a new one.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "libdag/warden/warden.hpp"
#include "nodes/workers/client_world.hpp"
#include "nodes/workers/seat_door.hpp"
#include "nodes/workers/worker_child.hpp"

namespace dag {
namespace {

/// Why a process could not be started: a limit that other processes may leave room below, or what `otherwise`
/// says.
Error not_started(int problem, const std::string& what, Error otherwise) {
  if (problem != EMFILE && problem != ENFILE && problem != EAGAIN) return otherwise;
  return {ErrorCode::limit_reached, what + ": " + std::strerror(problem),
          std::string("a limit of ") +
              (problem == EAGAIN ? "processes (ulimit -u)" : "open files (ulimit -n)") +
              " is reached: `dag doctor`"};
}

}  // namespace

/// The page, output file and rings of a process for a job.
struct WorkerProcesses::Prepared {
  const RunningPage* page = nullptr;
  std::string log;
  OwnedFile output;
  WorkerSeat seat;
};

void WorkerProcesses::start_now(const Order& order) {
  if (!serve_next(order)) start_process(order);
}

bool WorkerProcesses::serve_next(const Order& order) {
  const Launch& launch = order.start.launch;
  if (launch.session == 0) return false;
  const auto warm = std::find_if(warm_.begin(), warm_.end(),
                                 [&](const Process& one) { return !one.kill_at && one.launch == launch; });
  if (warm != warm_.end()) {
    Process process = std::move(*warm);
    warm_.erase(warm);
    return hand_over(std::move(process), order);
  }
  for (auto& [life, child] : children_) {
    if (!child.leaves || child.next || child.of.launch != launch) continue;
    child.next = order;
    return true;
  }
  return false;
}

/// False: it is not there any more, and is waited for.
bool WorkerProcesses::hand_over(Process process, const Order& order) {
  Prepared prepared;
  if (!prepare(order, prepared)) {
    keep_warm(std::move(process));
    return true;  // Already reported.
  }
  if (!hand_seat(process.door.number(), prepared.seat, prepared.output.number())) {
    undo(order, prepared);
    end_warm(process);
    warm_.push_back(std::move(process));
    return false;
  }
  add(order, prepared, std::move(process)).handed = order;
  return true;
}

/// False: there is no room for it. That is said then.
bool WorkerProcesses::prepare(const Order& order, Prepared& prepared) {
  const Life life = order.start.life;
  if (!defaults_.log_directory.empty()) {
    prepared.log = defaults_.log_directory + "/" + to_string(order.start.job) + "-" +
                   std::to_string(life.process.value >> 16) + ".log";
  }
  prepared.seat = {life,          order.start.job, order.start.cell, defaults_.node_address,
                   order.cluster, defaults_.share, defaults_.lanes};
  prepared.page = pages_.make(life, prepared.seat.page);
  prepared.output.reset(prepared.log.empty()
                            ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
                            : open(prepared.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (prepared.page == nullptr || !prepared.output) {
    const int problem = errno;
    pages_.take_back(life);
    events_.not_started(life, not_started(problem, "cannot open " + prepared.log,
                                          {ErrorCode::disk_full,
                                           "cannot write " + prepared.log + ": " + std::strerror(problem),
                                           "the node needs a directory for the output of worker processes"}));
    return false;
  }
  prepared.seat.niceness = defaults_.niceness;
  prepared.seat.spawn_credit = defaults_.spawn_credit;
  if (defaults_.journal != nullptr)
    prepared.seat.records = defaults_.journal->open_rings(
        life, defaults_.lanes_each,
        prepared.log.empty() ? std::nullopt : std::optional(OutputOf{order.start.job, prepared.log}));
  return true;
}

void WorkerProcesses::undo(const Order& order, const Prepared& prepared) {
  pages_.take_back(order.start.life);
  if (prepared.seat.records >= 0) defaults_.journal->close_rings(order.start.life);
}

WorkerProcesses::Child& WorkerProcesses::add(const Order& order, const Prepared& prepared, Process process) {
  process.until.reset();
  process.kill_at.reset();
  events_.started(order.start.life, static_cast<std::uint32_t>(process.process));
  Child child{std::move(process), prepared.page, prepared.log};
  return children_.insert_or_assign(order.start.life, std::move(child)).first->second;
}

void WorkerProcesses::start_process(const Order& order) {
  const Launch& launch = order.start.launch;
  const auto refuse = [&](Error why) { events_.not_started(order.start.life, std::move(why)); };
  const auto program = programs_.descriptor(launch.program);
  if (!program) return refuse({ErrorCode::program_invalid, "the job's binary is not here"});
  auto door = make_seat_door();
  if (!door) return refuse(not_started(errno, door.error().what, door.error()));
  const OwnedFile nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing) {
    const Error why{ErrorCode::internal, "cannot open /dev/null: " + std::string(std::strerror(errno))};
    return refuse(not_started(errno, why.what, why));
  }
  Prepared prepared;
  if (!prepare(order, prepared)) return;
  prepared.seat.door = door->of_process.number();
  warden::Call call{launch.arguments, environment_of_worker(launch, to_text(prepared.seat)), *program};
  call.directory = launch.directory.empty() ? "/" : launch.directory;
  call.soft_limits = launch.limits;
  call.directory_may_be_gone = true;
  call.input = nothing.number();
  call.output = call.errors = prepared.output.number();
  call.inherits = {prepared.seat.page, prepared.seat.door};
  if (prepared.seat.records >= 0) call.inherits.push_back(prepared.seat.records);
  call.only_these_files = true;  // A node may be part of a user's program, which has files of its own.
  warden::Started started;
  std::string why;
  int problem = 0;
  try {
    started = warden::start(call);
    problem = started.failed;
    if (problem != 0) {
      warden::wait(started.warden);
      why = std::string("the job's binary does not start: ") + std::strerror(problem);
    }
  } catch (const std::system_error& error) {
    why = error.what();
    problem = error.code().value();
  }
  if (!why.empty()) {
    undo(order, prepared);
    return refuse(not_started(
        problem, "the job's binary does not start",
        {ErrorCode::internal, why, "does the node reach a limit of processes or open files? `dag doctor`"}));
  }
  Process process;
  process.warden = started.warden;
  process.process = started.process;
  process.pidfd.reset(static_cast<int>(syscall(SYS_pidfd_open, process.warden, 0)));
  process.door = std::move(door->of_node);
  process.launch = launch;
  add(order, prepared, std::move(process));
}

}  // namespace dag
