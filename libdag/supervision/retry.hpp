#pragma once
// Decides whether a task gets another attempt, and when: the count and the pause. Others number, place and
// start the attempt.

#include <cstdint>
#include <variant>

#include "dag/options.hpp"
#include "libdag/base/limits.hpp"
#include "libdag/base/random.hpp"
#include "libdag/base/time.hpp"
#include "libdag/supervision/restart.hpp"

namespace dag {

/// Pauses stop doubling here.
inline constexpr Duration backoff_max = std::chrono::seconds(30);
/// Pauses are drawn from [1 - jitter, 1 + jitter] times their length, so that tasks which failed together do
/// not return together.
inline constexpr double backoff_jitter = 0.25;

/// A task's past attempts. Only failures are charged (P7), but losses are counted: a task that is lost again
/// and again must end as well (I11).
struct Tries {
  std::uint32_t failed = 0;
  std::uint32_t lost = 0;
  bool operator==(const Tries&) const = default;
};

/// Ready again, after `pause` (zero: at once).
struct RetryAfter {
  Duration pause{0};
  bool operator==(const RetryAfter&) const = default;
};
/// The task has failed.
struct GiveUp {
  enum class Why : std::uint8_t { attempts_used_up, lost_too_often, not_wanted } why;
  bool operator==(const GiveUp&) const = default;
};
using NextTry = std::variant<RetryAfter, GiveUp>;

/// Losses of a task that are tolerated.
inline constexpr std::uint32_t losses_max = limits::attempts_max;

/// Counts the ended attempt in `tries` and decides. `why` is never `finished`.
NextTry next_retry(const Retry& policy, Tries& tries, Exit why, Random& random);

/// The pause after the `failed`-th failure (from 1): backoff * 2^(failed-1), limited and jittered.
/// A policy that asks for more than the limit gets what it asked for, without doubling.
Duration backoff_after(const Retry& policy, std::uint32_t failed, Random& random);

}  // namespace dag
