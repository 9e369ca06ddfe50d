#pragma once
// What can be said of a task besides its kernel and its inputs.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dag {

/// What a task occupies while it runs. Refused at submission when no node could ever give it.
struct Needs {
  double cpus = 1;           ///< lanes of the CPU; fractions are rounded up
  std::uint32_t gpus = 0;    ///< whole devices
  std::uint64_t memory = 0;  ///< bytes of host memory; 0: does not matter
  bool operator==(const Needs&) const = default;
};

/// How often a failing kernel is tried, and how long is waited: backoff * 2^(n-1) before try n+1, with jitter
/// of a quarter. Attempts lost with their process or node are not charged.
struct Retry {
  std::uint32_t attempts = 1;  ///< all tries together, the first included; at least 1
  std::chrono::nanoseconds backoff = std::chrono::milliseconds(100);
  bool operator==(const Retry&) const = default;
};

/// Ready tasks of a higher band run first.
enum class Priority : std::uint8_t { low, normal, high, urgent };
using enum Priority;

/// What running a task twice would do to the world.
enum class Effects : std::uint8_t {
  undeclared,  ///< a task that returns nothing must say which
  pure,        ///< nothing: may run again at any time, runs ahead of the record
  idempotent,  ///< the same as once: starts only from settled inputs, at least once
  /// Harm: starts only from settled inputs, when it is recorded that it will, and never again. When it is
  /// lost with its process, the task fails with outcome_unknown. It cannot be retried.
  at_most_once,
  /// Harm when two of it run at the same time: starts only from settled inputs, at least once, and a process
  /// runs it only while its lease on the job's record holds. After a loss nobody starts it again before that
  /// has run out, 5 s and a little later; a process that cannot renew its lease ends itself before. That
  /// holds while clocks differ by less than 3 % and nobody stops a process: whoever must be sure, gives
  /// Context::fencing_token to what the task changes. For tasks alone, in no group.
  exclusive,
  /// Files that it writes by Context::stage appear once: its kernel is pure and may run again at any time,
  /// and what the run wrote that counts is put in its place when that is recorded, by an exclusive task of
  /// its own behind it (`NAME:publish`), before anybody sees the task's end. For tasks that are added one by
  /// one.
  staged,
};
inline constexpr Effects pure = Effects::pure;
inline constexpr Effects idempotent = Effects::idempotent;
inline constexpr Effects at_most_once = Effects::at_most_once;
inline constexpr Effects exclusive = Effects::exclusive;
inline constexpr Effects staged = Effects::staged;

/// When a task with several strong or conditional inputs runs. Weak ones never keep it from running.
enum class Join : std::uint8_t {
  all,          ///< every one finished and every condition holds
  one_success,  ///< all have ended, at least one finished with its condition met
  none_failed,  ///< all have ended, none failed or was cancelled; skipped ones do not matter
};
inline constexpr Join all = Join::all;
inline constexpr Join one_success = Join::one_success;
inline constexpr Join none_failed = Join::none_failed;

/// Who of a group of tasks is started again together with a member whose attempt failed or was lost (the
/// restart strategies of Erlang's supervisors).
enum class Strategy : std::uint8_t {
  one_for_one,   ///< it alone
  rest_for_one,  ///< it and the members that were added to the graph after it, which may rely on it
  one_for_all,   ///< all: none is of use without the others, as in a gang of data-parallel workers
};
inline constexpr Strategy one_for_one = Strategy::one_for_one;
inline constexpr Strategy rest_for_one = Strategy::rest_for_one;
inline constexpr Strategy one_for_all = Strategy::one_for_all;

/// How many restarts are borne. One more within `period` after the first of them, and the fault is not local:
/// who supervises gives up. Only what is charged counts: failures and crashes, not losses.
struct Intensity {
  std::uint32_t restarts = 3;
  std::chrono::nanoseconds period = std::chrono::seconds(60);
  bool operator==(const Intensity&) const = default;
};

/// How a task ended.
enum class Outcome : std::uint8_t {
  none,       ///< it has not
  finished,   ///< its kernel returned
  failed,     ///< its last attempt threw, or ran too long
  skipped,    ///< a condition was not met
  cancelled,  ///< somebody cancelled it, or a task it needs did not finish
};
std::string_view name(Outcome outcome);

/// The rare part of a task, shared between all tasks that say the same.
struct Policy {
  Needs needs = {};
  Retry retry = {};
  Priority priority = Priority::normal;
  Effects effects = Effects::pure;
  Join join = Join::all;
  std::optional<std::chrono::nanoseconds> timeout = {};   ///< of one attempt
  std::optional<std::chrono::nanoseconds> deadline = {};  ///< from submission to the end of this task
  std::optional<std::chrono::nanoseconds> takes = {};     ///< expected duration of one attempt
  /// Its kernel saves its state now and then (Context::checkpoint), so often; 0: as often as pays.
  std::optional<std::chrono::nanoseconds> checkpoint = {};
  bool varying = false;                     ///< its kernel gives another value each time
  bool keep = false;                        ///< a client may ask for its output after its readers have ended
  std::optional<std::uint32_t> group = {};  ///< which of the graph's groups it is a member of
  /// For the library: it publishes what the task before it staged, and fails when that one did.
  bool publishes = false;
  /// It starts only from recorded inputs: what it does, or makes its group do, is not taken back when an
  /// input comes to another value.
  bool starts_from_recorded() const {
    return (effects != Effects::pure && effects != Effects::staged) || group.has_value();
  }
  bool operator==(const Policy&) const = default;
};

inline namespace literals {
constexpr std::uint64_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr std::uint64_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::uint64_t operator""_GiB(unsigned long long n) { return n << 30; }
}  // namespace literals

}  // namespace dag
