#pragma once
// Options of a task, besides its kernel and its inputs.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dag {

/// Resources that a task occupies while it runs. Refused at submission if no node could ever provide them.
struct Needs {
  double cpus = 1;           ///< lanes of the CPU; fractions are rounded up
  std::uint32_t gpus = 0;    ///< whole devices
  std::uint64_t memory = 0;  ///< bytes of host memory; 0: does not matter
  bool operator==(const Needs&) const = default;
};

/// How often a failing kernel is tried. The wait before try n+1 is backoff * 2^(n-1), with jitter of a
/// quarter. Attempts lost with their process or node are not charged.
struct Retry {
  std::uint32_t attempts = 1;  ///< all tries together, the first included; at least 1
  std::chrono::nanoseconds backoff = std::chrono::milliseconds(100);
  bool operator==(const Retry&) const = default;
};

/// Ready tasks of a higher band run first.
enum class Priority : std::uint8_t { low, normal, high, urgent };
using enum Priority;

/// Harm that a second run of a task does to the world.
enum class Effects : std::uint8_t {
  undeclared,  ///< a task that returns nothing must say which
  pure,        ///< nothing: may run again at any time, runs ahead of the record
  idempotent,  ///< the same as once: starts only from settled inputs, at least once
  /// Harm. Starts only from settled inputs, after the start itself is settled, and never again. If it is lost
  /// with its process, the task fails with outcome_unknown. It cannot be retried.
  at_most_once,
  /// Harm if two attempts run at the same time. Starts only from settled inputs, at least once. A process
  /// runs it only while the process holds its lease on the job's record. After a loss it starts again when
  /// that lease has run out, 5 s and a little later; a process that cannot renew its lease ends itself
  /// before. This holds while clocks differ by less than 3 % and no process is suspended: for certainty, pass
  /// Context::fencing_token to the service that the task changes. Not for members of groups.
  exclusive,
  /// Files written by Context::stage appear once. The kernel is pure and may run again at any
  /// time. When a run is settled, an exclusive task of its own behind it (`NAME:publish`)
  /// puts the files of that run in place, before anybody sees the task's end. Not for
  /// families.
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

/// Which members of a group are started again with a member whose attempt failed or was lost (the restart
/// strategies of Erlang's supervisors).
enum class Strategy : std::uint8_t {
  one_for_one,   ///< it alone
  rest_for_one,  ///< it and the members that were added to the graph after it, which may rely on it
  one_for_all,   ///< all: none is of use without the others, as in a gang of data-parallel workers
};
inline constexpr Strategy one_for_one = Strategy::one_for_one;
inline constexpr Strategy rest_for_one = Strategy::rest_for_one;
inline constexpr Strategy one_for_all = Strategy::one_for_all;

/// How many restarts a group makes. If one more is due within `period` after the first of them, the fault is
/// not local and the group gives up. Failures and crashes count, losses do not.
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

/// The rare options of a task, shared by all tasks with the same ones.
struct Policy {
  Needs needs = {};
  Retry retry = {};
  Priority priority = Priority::normal;
  Effects effects = Effects::pure;
  Join join = Join::all;
  std::optional<std::chrono::nanoseconds> timeout = {};   ///< of one attempt
  std::optional<std::chrono::nanoseconds> deadline = {};  ///< from submission to the end of this task
  std::optional<std::chrono::nanoseconds> takes = {};     ///< expected duration of one attempt
  /// The kernel saves its state at this interval (Context::checkpoint); 0: at the best interval.
  std::optional<std::chrono::nanoseconds> checkpoint = {};
  bool varying = false;                     ///< its kernel gives another value each time
  bool keep = false;                        ///< a client may ask for its output after its readers have ended
  std::optional<std::uint32_t> group = {};  ///< which of the graph's groups it is a member of
  /// For the library: it publishes the files that the task before it staged, and fails when that task failed.
  bool publishes = false;
  /// Starts only from settled inputs: its effects, and restarts of its group, cannot be undone when an
  /// input comes to another value.
  bool starts_from_settled() const {
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
