#include "nodes/workers/worker_processes.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libdag/base/saturating.hpp"
#include "libdag/warden/warden.hpp"
#include "nodes/machine/clock.hpp"
#include "nodes/workers/descendants.hpp"
#include "nodes/workers/process_end.hpp"
#include "nodes/workers/seat_door.hpp"
#include "nodes/workers/worker_child.hpp"

namespace dag {
namespace {

/// While a process is to end and a kernel of it runs.
constexpr int kernels_looked_at_every_ms = 5;

/// True: it has ended and was not waited for yet.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

/// After it has ended, or until it has. False: there was no such child.
bool wait_for(pid_t warden, int* status = nullptr) {
  const pid_t waited = waitpid(warden, status, 0);
  warden::end_what_is_left(warden);
  return waited == warden;
}

}  // namespace

WorkerProcesses::WorkerProcesses(WorkerDefaults defaults, const ProgramStore& programs, WorkerEvents events)
    : defaults_(std::move(defaults)),
      programs_(programs),
      events_(std::move(events)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  thread_ = std::thread([this] { run(); });
}

WorkerProcesses::~WorkerProcesses() {
  end_all();
  ::close(wake_);
}

void WorkerProcesses::end_all() {
  if (!thread_.joinable()) return;
  post([this] { over_ = true; });
  thread_.join();
}

void WorkerProcesses::start(StartProcess order, ClusterId cluster) {
  post([this, order = Order{std::move(order), cluster}] { start_now(order); });
}
void WorkerProcesses::stop(Life life) {
  post([this, life] { stop_now(life); });
}

void WorkerProcesses::post(std::function<void()> what) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(what));
  }
  const std::uint64_t one = 1;
  while (write(wake_, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

// ---- On the thread

void WorkerProcesses::run() {
  pthread_setname_np(pthread_self(), "dag-workers");
  while (!over_) {
    std::vector<pollfd> polled{{wake_, POLLIN, 0}};
    for (const auto& [life, child] : children_) {
      polled.push_back({child.of.pidfd.number(), POLLIN, 0});
      if (child.leaves) polled.push_back({child.of.door.number(), POLLIN, 0});
    }
    for (const Process& process : warm_) polled.push_back({process.pidfd.number(), POLLIN, 0});
    poll(polled.data(), polled.size(), wait_milliseconds());
    std::uint64_t count = 0;
    while (read(wake_, &count, sizeof count) < 0 && errno == EINTR) {
    }
    look_at_children();
    look_at_warm();
    look_who_is_frozen();
    std::vector<std::function<void()>> waiting;
    {
      const std::lock_guard lock(mutex_);
      waiting.swap(waiting_);
    }
    for (const auto& what : waiting) what();
  }
  for (const auto& [life, child] : children_) warden::end_now(child.of.warden);
  for (const Process& process : warm_) warden::end_now(process.warden);
  for (auto& [life, child] : children_) {
    wait_for(child.of.warden);
    pages_.take_back(life);
    if (defaults_.journal != nullptr) defaults_.journal->close_rings(life);
  }
  for (const Process& process : warm_) wait_for(process.warden);
}

void WorkerProcesses::look_at_children() {
  for (auto child = children_.begin(); child != children_.end();) {
    const auto here = child++;
    Child& one = here->second;
    if (has_ended(one.of.warden)) {
      reap(here);
    } else if (one.ask_at) {
      ask_to_end(one);
    } else if (one.of.kill_at && *one.of.kill_at <= steady_now()) {
      one.of.kill_at.reset();
      warden::end_now(one.of.warden);
    } else if (one.leaves) {
      hear(here);
    }
  }
}

void WorkerProcesses::look_at_warm() {
  const Instant now = steady_now();
  for (auto process = warm_.begin(); process != warm_.end();) {
    const auto here = process++;
    if (has_ended(here->warden)) {
      wait_for(here->warden);
      warm_.erase(here);
    } else if (here->kill_at && *here->kill_at <= now) {
      here->kill_at = now + stop_grace;
      warden::end_now(here->warden);
    } else if (!here->kill_at && *here->until <= now) {
      end_warm(*here);
    }
  }
}

/// A process that was told to end is killed anyway.
void WorkerProcesses::look_who_is_frozen() {
  const Instant now = steady_now();
  if (children_.empty() || now < look_at_) return;
  look_at_ = now + FrozenWatch::look_every;
  for (auto& [life, child] : children_) {
    if (child.stopped || !child.frozen.empty()) continue;
    const auto state = [&child = child] {
      return state_of_thread(static_cast<std::uint32_t>(child.of.process), child.page->beating_thread());
    };
    child.frozen = child.watch.look(child.page->beats(), state, now);
    if (!child.frozen.empty()) warden::end_now(child.of.warden);
  }
}

int WorkerProcesses::wait_milliseconds() const {
  std::optional<Instant> due;
  const auto by = [&due](std::optional<Instant> at) {
    if (at && (!due || *at < *due)) due = at;
  };
  if (!children_.empty()) by(look_at_);
  for (const auto& [life, child] : children_) {
    if (child.ask_at) return kernels_looked_at_every_ms;
    by(child.of.kill_at);
  }
  for (const Process& process : warm_) by(process.kill_at ? process.kill_at : process.until);
  if (!due) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*due - steady_now()).count();
  return static_cast<int>(std::max<std::int64_t>(left + 1, 0));
}

void WorkerProcesses::stop_now(Life life) {
  const auto child = children_.find(life);
  if (child == children_.end()) {
    for (auto& [other, leaving] : children_) {
      if (!leaving.next || leaving.next->start.life != life) continue;
      leaving.next.reset();
      return events_.ended(life, ProcessEnd::stopped_by_us, "", {}, std::nullopt);
    }
    return;
  }
  if (std::exchange(child->second.stopped, true)) return;
  child->second.ask_at = steady_now() + kernels_grace;
  ask_to_end(child->second);
}

/// Cancelled kernels get some time to return, and their results still count.
void WorkerProcesses::ask_to_end(Child& child) {
  const Instant now = steady_now();
  if (now < *child.ask_at && !child.page->running().empty()) return;
  child.ask_at.reset();
  child.of.kill_at = now + stop_grace;
  child.leaves = can_serve_again(child) && say_leave(child.of.door.number());
  if (!child.leaves) kill(child.of.warden, SIGTERM);
}

bool WorkerProcesses::can_serve_again(const Child& child) const {
  const bool has_begun = child.page->beats() > 0;
  return defaults_.keep_warm > Duration{0} && child.of.launch.session != 0 && has_begun &&
         child.frozen.empty() && child.page->running().empty();
}

void WorkerProcesses::hear(Children::iterator one) {
  Child& child = one->second;
  const DoorSaid said = read_door(child.of.door.number());
  if (said == DoorSaid::nothing) return;
  const bool fit = said == DoorSaid::free && child.page->running().empty() && !child.page->fault() &&
                   !has_descendants(child.of.warden, child.of.process);
  if (fit) return has_left(one);
  child.leaves = false;
  if (said == DoorSaid::free) kill(child.of.warden, SIGTERM);
}

void WorkerProcesses::has_left(Children::iterator one) {
  const Life life = one->first;
  Child child = std::move(one->second);
  children_.erase(one);
  close_job(life, child);
  events_.ended(life, ProcessEnd::stopped_by_us, "", {}, std::nullopt);
  if (!child.next) return keep_warm(std::move(child.of));
  if (!hand_over(std::move(child.of), *child.next)) start_process(*child.next);
}

void WorkerProcesses::keep_warm(Process process) {
  process.kill_at.reset();
  process.until = later(steady_now(), defaults_.keep_warm);
  warm_.push_back(std::move(process));
  const auto is_here = [](const Process& one) { return !one.kill_at; };
  if (std::count_if(warm_.begin(), warm_.end(), is_here) > static_cast<std::ptrdiff_t>(warm_max))
    end_warm(*std::find_if(warm_.begin(), warm_.end(), is_here));
}

void WorkerProcesses::end_warm(Process& process) {
  process.kill_at = steady_now() + stop_grace;
  kill(process.warden, SIGTERM);
}

/// Nothing more comes of the job from there.
void WorkerProcesses::close_job(Life life, const Child& child) {
  pages_.take_back(life);
  struct stat about {};
  if (stat(child.log.c_str(), &about) == 0 && about.st_size == 0) unlink(child.log.c_str());
  if (defaults_.journal != nullptr) defaults_.journal->close_rings(life);
}

void WorkerProcesses::reap(Children::iterator one) {
  const Life life = one->first;
  Child child = std::move(one->second);
  children_.erase(one);
  int status = 0;
  // The status was there: look_at_children() has looked. If it is not, the end was not seen, and no attempt
  // is to blame.
  HowEnded end =
      wait_for(child.of.warden, &status)
          ? end_of(status, *child.page)
          : HowEnded{ProcessEnd::killed, "ended, and how is not known: " + std::string(strerror(errno))};
  if (child.stopped) end.end = ProcessEnd::stopped_by_us;
  if (!child.frozen.empty()) end.text = "ended by its node: " + child.frozen;
  const bool never_began = child.handed && !child.stopped && child.page->beats() == 0;
  std::vector<RunningAttempt> running;
  for (const RunningPage::Attempt& attempt : child.page->running()) {
    running.push_back({attempt.task, attempt.attempt, attempt.lane, 0});
  }
  auto guilty = child.page->faulted_lane();
  if (const auto charged = child.page->ended_for()) {
    std::erase_if(running, [&](const RunningAttempt& other) { return other.task == charged->task; });
    running.push_back({charged->task, charged->attempt, charged->lane, 0});
    guilty = charged->lane;
  }
  if (end.end != ProcessEnd::stopped_by_us || guilty) end.text += last_words(child.log);
  close_job(life, child);
  if (never_began) {
    start_process(*child.handed);
  } else {
    events_.ended(life, end.end, std::move(end.text), std::move(running), guilty);
  }
  if (child.next) start_process(*child.next);
}

}  // namespace dag
