#include "nodes/workers/worker_processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "libdag/base/saturating.hpp"
#include "libdag/warden/warden.hpp"
#include "nodes/client_world.hpp"
#include "nodes/clock.hpp"

namespace dag {
namespace {

struct End {
  ProcessEnd end;
  std::string text;
};

End end_of(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == status_of_lease_lost) {
    return {ProcessEnd::stopped_by_us, "ended because it could not renew its lease"};
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == status_of_cut_off)
    return {ProcessEnd::stopped_by_us, "ended because the others of its job took it for dead"};
  if (WIFEXITED(status)) {
    return {ProcessEnd::faulted,
            "ended with status " + std::to_string(WEXITSTATUS(status)) + " in the middle of its job"};
  }
  const int signal = WTERMSIG(status);
  const char* description = sigdescr_np(signal);
  std::string text =
      "signal " + std::to_string(signal) + " (" + (description == nullptr ? "?" : description) + ")";
  // Nobody raises these in a kernel: somebody outside ended the process, and what ran there is not to blame.
  const bool from_outside =
      signal == SIGKILL || signal == SIGTERM || signal == SIGHUP || signal == SIGINT || signal == SIGQUIT;
  return {from_outside ? ProcessEnd::killed : ProcessEnd::faulted, std::move(text)};
}

/// Why a process could not be started: a limit that other processes may leave room below, or what `otherwise`
/// says.
Error not_started(int problem, const std::string& what, Error otherwise) {
  if (problem != EMFILE && problem != ENFILE && problem != EAGAIN) return otherwise;
  return {ErrorCode::limit_reached, what + ": " + std::strerror(problem),
          std::string("a limit of ") +
              (problem == EAGAIN ? "processes (ulimit -u)" : "open files (ulimit -n)") +
              " is reached: `dag doctor`"};
}

/// The end of what a process wrote, as a part of the sentence on how it ended; empty when it wrote nothing.
std::string last_words(const std::string& log) {
  constexpr std::streamoff bytes_max = 600;
  constexpr std::size_t lines_max = 5;
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg(), from = std::max<std::streamoff>(0, size - bytes_max);
  file.seekg(from);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (from > 0 && lines.size() > 1) lines.erase(lines.begin());  // It begins in the middle.
  if (lines.size() > lines_max)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(lines_max));
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "; the last it wrote: " : " | ") + line;
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 32) c = ' ';
  }
  return text;
}

}  // namespace

// ---- The pages

RunningPage* WorkerProcesses::Pages::make(Life life, int& file) {
  file = memfd_create("dag-running", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void* memory = MAP_FAILED;
  // The process runs kernels of users: who cuts the page off would take the node along.
  if (file >= 0 && ftruncate(file, sizeof(RunningPage)) == 0 &&
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    memory = mmap(nullptr, sizeof(RunningPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    const int problem = errno;
    if (file >= 0) close(file);
    errno = problem;
    return nullptr;
  }
  auto* page = new (memory) RunningPage;
  const std::lock_guard lock(mutex_);
  pages_[life] = {file, page, steady_now()};
  return page;
}

void WorkerProcesses::Pages::take_back(Life life) {
  const std::lock_guard lock(mutex_);
  const auto found = pages_.find(life);
  if (found == pages_.end()) return;
  of_ended_ += found->second.page->totals();
  munmap(found->second.page, sizeof(RunningPage));
  close(found->second.file);
  pages_.erase(found);
}

/// What a page says of when something began is the word of a process that runs kernels.
Duration WorkerProcesses::Pages::ran_since(std::int64_t began) const {
  const std::int64_t now = clock_.now();
  return began <= 0 || began > now ? Duration{0} : clock_.span(now - began);
}

WorkersNow WorkerProcesses::Pages::now(std::size_t lanes_each) const {
  const std::lock_guard lock(mutex_);
  const Instant at = steady_now();
  WorkersNow now;
  for (const auto& [life, page] : pages_) {
    ++now.processes;
    const std::vector<RunningPage::Attempt> running = page.page->running();
    now.lanes_running += static_cast<std::uint32_t>(running.size());
    now.queued += page.page->queued();
    now.lane_time += (at - page.since) * static_cast<Duration::rep>(lanes_each);
    for (const Duration busy : page.page->totals().busy) now.busy = sum(now.busy, busy);
    for (const RunningPage::Attempt& attempt : running) now.busy = sum(now.busy, ran_since(attempt.began));
  }
  now.busy_ever = now.busy;
  for (const Duration busy : of_ended_.busy) now.busy_ever = sum(now.busy_ever, busy);
  return now;
}

RunTotals WorkerProcesses::Pages::ran() const {
  const std::lock_guard lock(mutex_);
  RunTotals run = of_ended_;
  for (const auto& [life, page] : pages_) run += page.page->totals();
  return run;
}

// ---- The processes

/// While a process is to end and a kernel of it runs.
static constexpr int kernels_looked_at_every_ms = 5;

struct WorkerProcesses::Child {
  pid_t warden = 0;   ///< ends when the process has, and all that it started
  int pidfd = -1;     ///< of the warden
  pid_t process = 0;  ///< to look at only: once it has ended its number may be another's
  const RunningPage* page = nullptr;
  std::string log;
  std::optional<Instant> ask_at;   ///< it is told to end then, or when none of its kernels runs
  std::optional<Instant> kill_at;  ///< it was told to end
  bool stopped = false;
  FrozenWatch watch = {};
  std::string frozen;  ///< why it was ended
};

WorkerProcesses::WorkerProcesses(WorkerDefaults defaults, const ProgramStore& programs, WorkerEvents events)
    : defaults_(std::move(defaults)),
      programs_(programs),
      events_(std::move(events)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  thread_ = std::thread([this] { run(); });
}

WorkerProcesses::~WorkerProcesses() {
  end_all();
  close(wake_);
}

void WorkerProcesses::end_all() {
  if (!thread_.joinable()) return;
  post([this] { over_ = true; });
  thread_.join();
}

void WorkerProcesses::start(StartProcess order, ClusterId cluster) {
  post([this, order = std::move(order), cluster] { start_now(order, cluster); });
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
    for (const auto& [life, child] : children_) polled.push_back({child.pidfd, POLLIN, 0});
    poll(polled.data(), polled.size(), wait_milliseconds());
    std::uint64_t count = 0;
    while (read(wake_, &count, sizeof count) < 0 && errno == EINTR) {
    }
    for (auto child = children_.begin(); child != children_.end();) {
      const auto here = child++;
      siginfo_t info{};
      const bool ended =
          waitid(P_PID, static_cast<id_t>(here->second.warden), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          info.si_pid != 0;
      if (ended) {
        reap(here);
      } else if (here->second.ask_at) {
        ask_to_end(here->second);
      } else if (here->second.kill_at && *here->second.kill_at <= steady_now()) {
        here->second.kill_at.reset();
        warden::end_now(here->second.warden);
      }
    }
    look_who_is_frozen();
    std::vector<std::function<void()>> waiting;
    {
      const std::lock_guard lock(mutex_);
      waiting.swap(waiting_);
    }
    for (const auto& what : waiting) what();
  }
  for (const auto& [life, child] : children_) warden::end_now(child.warden);
  for (auto& [life, child] : children_) {
    waitpid(child.warden, nullptr, 0);
    close(child.pidfd);
    pages_.take_back(life);
    if (defaults_.journal != nullptr) defaults_.journal->close_rings(life);
  }
}

/// One that was told to end is killed anyway.
void WorkerProcesses::look_who_is_frozen() {
  const Instant now = steady_now();
  if (children_.empty() || now < look_at_) return;
  look_at_ = now + FrozenWatch::look_every;
  for (auto& [life, child] : children_) {
    if (child.stopped || !child.frozen.empty()) continue;
    const auto state = [&child = child] {
      return state_of_thread(static_cast<std::uint32_t>(child.process), child.page->beating_thread());
    };
    child.frozen = child.watch.look(child.page->beats(), state, now);
    if (!child.frozen.empty()) warden::end_now(child.warden);
  }
}

int WorkerProcesses::wait_milliseconds() const {
  std::optional<Instant> due;
  if (!children_.empty()) due = look_at_;
  for (const auto& [life, child] : children_) {
    if (child.ask_at) return kernels_looked_at_every_ms;
    if (child.kill_at && (!due || *child.kill_at < *due)) due = child.kill_at;
  }
  if (!due) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*due - steady_now()).count();
  return static_cast<int>(std::max<std::int64_t>(left + 1, 0));
}

void WorkerProcesses::start_now(const StartProcess& order, ClusterId cluster) {
  const auto program = programs_.descriptor(order.launch.program);
  if (!program)
    return events_.not_started(order.life, {ErrorCode::program_invalid, "the job's binary is not here"});
  Child child;
  if (!defaults_.log_directory.empty()) {
    child.log = defaults_.log_directory + "/" + to_string(order.job) + "-" +
                std::to_string(order.life.process.value >> 16) + ".log";
  }
  int page_file = -1;
  child.page = pages_.make(order.life, page_file);
  const int log = child.log.empty() ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
                                    : open(child.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (child.page == nullptr || log < 0 || nothing < 0) {
    const int problem = errno;
    pages_.take_back(order.life);
    for (const int file : {log, nothing}) {
      if (file >= 0) close(file);
    }
    return events_.not_started(
        order.life,
        not_started(problem, "cannot open " + child.log,
                    {ErrorCode::disk_full, "cannot write " + child.log + ": " + std::strerror(problem),
                     "the node needs a directory for the output of worker processes"}));
  }
  WorkerSeat seat{order.life, order.job,       order.cell,      defaults_.node_address,
                  cluster,    defaults_.share, defaults_.lanes, page_file};
  seat.niceness = defaults_.niceness;
  seat.spawn_credit = defaults_.spawn_credit;
  if (defaults_.journal != nullptr)
    seat.records = defaults_.journal->open_rings(
        order.life, defaults_.lanes_each,
        child.log.empty() ? std::nullopt : std::optional(OutputOf{order.job, child.log}));
  warden::Call call{order.launch.arguments, environment_of_worker(order.launch, to_text(seat)), *program};
  call.directory = order.launch.directory.empty() ? "/" : order.launch.directory;
  call.soft_limits = order.launch.limits;
  call.directory_may_be_gone = true;
  call.input = nothing;
  call.output = call.errors = log;
  call.inherits.push_back(page_file);
  if (seat.records >= 0) call.inherits.push_back(seat.records);
  call.only_these_files = true;  // A node may be part of a user's program, which has files of its own.
  warden::Started started;
  std::string why;
  int problem = 0;
  try {
    started = warden::start(call);
    problem = started.failed;
    if (problem != 0) {
      waitpid(started.warden, nullptr, 0);
      why = std::string("the job's binary does not start: ") + std::strerror(problem);
    }
  } catch (const std::system_error& error) {
    why = error.what();
    problem = error.code().value();
  }
  close(log);
  close(nothing);
  if (!why.empty()) {
    pages_.take_back(order.life);
    if (seat.records >= 0) defaults_.journal->close_rings(order.life);
    return events_.not_started(
        order.life, not_started(problem, "the job's binary does not start",
                                {ErrorCode::internal, why,
                                 "does the node reach a limit of processes or open files? `dag doctor`"}));
  }
  child.warden = started.warden;
  child.process = started.process;
  child.pidfd = static_cast<int>(syscall(SYS_pidfd_open, child.warden, 0));
  events_.started(order.life, static_cast<std::uint32_t>(started.process));
  children_.emplace(order.life, std::move(child));
}

void WorkerProcesses::stop_now(Life life) {
  const auto child = children_.find(life);
  if (child == children_.end() || std::exchange(child->second.stopped, true)) return;
  child->second.ask_at = steady_now() + kernels_grace;
  ask_to_end(child->second);
}

/// Kernels that were cancelled get some time to return: what they say then is heard.
void WorkerProcesses::ask_to_end(Child& child) {
  const Instant now = steady_now();
  if (now < *child.ask_at && !child.page->running().empty()) return;
  child.ask_at.reset();
  kill(child.warden, SIGTERM);
  child.kill_at = now + stop_grace;
}

void WorkerProcesses::reap(std::map<Life, Child>::iterator one) {
  Child& child = one->second;
  int status = 0;
  // Its status was there: run() has looked. If it is not, nobody is to blame for an end that nobody saw.
  End end = waitpid(child.warden, &status, 0) == child.warden
                ? end_of(status)
                : End{ProcessEnd::killed, "ended, and how is not known: " + std::string(strerror(errno))};
  if (child.stopped) end.end = ProcessEnd::stopped_by_us;
  if (!child.frozen.empty()) end.text = "ended by its node: " + child.frozen;
  std::vector<RunningAttempt> running;
  for (const RunningPage::Attempt& attempt : child.page->running()) {
    running.push_back({attempt.task, attempt.attempt, attempt.lane, 0});
  }
  const auto guilty = child.page->faulted_lane();
  pages_.take_back(one->first);
  close(child.pidfd);
  if (end.end != ProcessEnd::stopped_by_us) end.text += last_words(child.log);
  struct stat about {};
  if (stat(child.log.c_str(), &about) == 0 && about.st_size == 0) unlink(child.log.c_str());
  const Life life = one->first;
  children_.erase(one);
  if (defaults_.journal != nullptr) defaults_.journal->close_rings(life);
  events_.ended(life, end.end, std::move(end.text), std::move(running), guilty);
}

}  // namespace dag
