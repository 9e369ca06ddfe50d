#include "actors/lanes/running_page.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "libdag/base/forked_child.hpp"

namespace dag {
namespace {

constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int ends[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};

/// The stack of a thread's handlers. When the thread ends its former one is back in place before this one is
/// freed: a late signal must not meet freed memory, and a sanitizer frees whatever it finds there.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t mine{};
    mine.ss_sp = bytes_.get();
    mine.ss_size = size_bytes;
    sigaltstack(&mine, &before_);
  }
  ~HandlerStack() { sigaltstack(&before_, nullptr); }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  static constexpr std::size_t size_bytes = 16 * 1024;

  std::unique_ptr<char[]> bytes_ = std::make_unique<char[]>(size_bytes);
  stack_t before_{};
};

/// Safe for any value that a kernel may have written there.
Duration nanoseconds_in(const std::atomic<std::uint64_t>& count) {
  constexpr auto most = static_cast<std::uint64_t>(Duration::max().count());
  return Duration(static_cast<Duration::rep>(std::min(count.load(std::memory_order_relaxed), most)));
}

std::atomic<RunningPage*> page_of_faults{nullptr};
thread_local std::size_t lane_of_thread = RunningPage::lanes_max;

/// Actions for each signal, as they were before.
struct sigaction before[NSIG];

void note(int signal_number) {
  if (in_forked_child()) return;  // The child shares the page, and its end is not that of the process.
  RunningPage* page = page_of_faults.load();
  if (page != nullptr && lane_of_thread < RunningPage::lanes_max) page->fault(lane_of_thread, signal_number);
}

/// After the return the faulting instruction runs again, and the former handler gets the signal. A signal
/// that was sent is raised again.
void on_signal(int signal_number, siginfo_t* info, void*) {
  const bool was_sent = info->si_code <= 0, from_outside = was_sent && info->si_pid != getpid();
  RunningPage* page = page_of_faults.load();
  if (page != nullptr && !in_forked_child()) page->signalled(signal_number, from_outside);
  if (!from_outside) note(signal_number);
  sigaction(signal_number, &before[signal_number], nullptr);
  if (was_sent || signal_number == SIGABRT) raise(signal_number);
}

void take(int signal_number) {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, &before[signal_number]);
}

}  // namespace

std::optional<RunningPage::Attempt> RunningPage::read(const Slot& slot, std::uint32_t lane) {
  const std::uint32_t turn = slot.turn.load(std::memory_order_acquire);
  if (turn % 2 == 0) return std::nullopt;
  const std::uint64_t task = slot.task.load(std::memory_order_acquire);
  const std::uint64_t epoch = slot.epoch.load(std::memory_order_acquire);
  const std::uint32_t number = slot.number.load(std::memory_order_acquire);
  const std::int64_t began = slot.began.load(std::memory_order_acquire);
  if (slot.turn.load(std::memory_order_relaxed) != turn) return std::nullopt;
  return Attempt{{static_cast<std::uint32_t>(task >> 32), static_cast<std::uint32_t>(task)},
                 {{static_cast<std::uint32_t>(epoch >> 32), static_cast<std::uint32_t>(epoch)}, number},
                 lane,
                 began};
}

std::vector<RunningPage::Attempt> RunningPage::running() const {
  std::vector<Attempt> attempts;
  for (std::uint32_t lane = 0; lane < lanes_max; ++lane) {
    if (const auto attempt = read(slots_[lane], lane)) attempts.push_back(*attempt);
  }
  return attempts;
}

std::optional<RunningPage::Attempt> RunningPage::ended_for() const { return read(ended_for_, lanes_max); }

/// How long all rows together wait is the length of their queue over time, whichever of them it was (Little,
/// "A Proof for the Queuing Formula L = lambda W", 1961): so no row is looked at. What came and went between
/// two calls is missed.
void RunningPage::queue(std::size_t rows, Instant now) {
  const std::int64_t at = now.since_start.count();
  std::int64_t since = queued_since_.load(std::memory_order_relaxed);
  do {
    if (at <= since) return;  // Another thread was faster.
  } while (!queued_since_.compare_exchange_weak(since, at, std::memory_order_relaxed));
  const std::uint64_t last = queued_.exchange(rows, std::memory_order_relaxed);
  if (since == 0) return;  // The first call.
  waited_ns_.fetch_add(last * static_cast<std::uint64_t>(at - since), std::memory_order_relaxed);
}

RunTotals RunningPage::totals() const {
  const auto read = [](const std::atomic<std::uint64_t>& count) {
    return count.load(std::memory_order_relaxed);
  };
  RunTotals totals;
  for (std::size_t lane = 0; lane < lanes_max; ++lane) {
    const Counts& counts = counts_[lane];
    for (std::size_t i = 0; i < totals.by_duration.size(); ++i)
      totals.by_duration[i] += read(counts.by_duration[i]);
    totals.failed += read(counts.failed);
    totals.stolen += read(counts.stolen);
    const Duration busy = nanoseconds_in(counts.busy_ns);
    if (busy == Duration{0}) continue;
    totals.busy.resize(lane + 1);
    totals.busy[lane] = busy;
  }
  for (const std::uint64_t ran : totals.by_duration) totals.queue.count += ran;
  totals.queue.total = nanoseconds_in(waited_ns_);
  totals.stolen_host = read(stolen_host_);
  totals.stolen_cluster = read(stolen_cluster_);
  totals.transfer = {read(transfer_.count), nanoseconds_in(transfer_.total_ns)};
  totals.transfer_bytes = read(transfer_bytes_);
  totals.retry = {read(retry_.count), nanoseconds_in(retry_.total_ns)};
  totals.placement = {read(placement_.count), nanoseconds_in(placement_.total_ns)};
  return totals;
}

std::optional<RunningPage::Fault> RunningPage::fault() const {
  const std::uint32_t noted = faulted_.load();
  const std::uint32_t lane = noted & 0xffff;
  if (lane == 0 || lane > lanes_max) return std::nullopt;
  return Fault{lane - 1, static_cast<int>(noted >> 16)};
}

std::optional<std::uint32_t> RunningPage::faulted_lane() const {
  const auto noted = fault();
  return noted ? std::optional(noted->lane) : std::nullopt;
}

std::optional<bool> RunningPage::was_sent_from_outside(int signal) const {
  const std::uint32_t noted = signalled_.load();
  if (noted >> 1 != static_cast<std::uint32_t>(signal)) return std::nullopt;
  return (noted & 1) != 0;
}

void note_faults(RunningPage& page) {
  begin_running_kernels();
  if (page_of_faults.exchange(&page) != nullptr) return;
  for (const int fault : faults) take(fault);
  std::atexit([] { note(0); });
}

void note_ends() {
  for (const int end : ends) {
    struct sigaction now {};
    if (sigaction(end, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL)
      take(end);
  }
}

void watch_this_lane(std::size_t lane) {
  lane_of_thread = lane;
  if (page_of_faults.load() == nullptr) return;
  thread_local const HandlerStack stack;  // Made here by the first call of each thread.
}

}  // namespace dag
