#include "libdag/supervision/retry.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"

namespace dag {

Duration backoff_after(const Retry& policy, std::uint32_t failed, Random& random) {
  DAG_CHECK(failed > 0);
  Duration pause = std::max(policy.backoff, Duration{0});
  const Duration limit = std::max(pause, backoff_max);
  // Doubling step by step stops at the limit before it can overflow.
  for (std::uint32_t n = 1; n < failed && pause > Duration{0} && pause < limit; ++n) {
    pause = pause > limit / 2 ? limit : pause * 2;
  }
  const double factor = 1.0 + backoff_jitter * (2.0 * random.unit() - 1.0);
  const double jittered = static_cast<double>(pause.count()) * factor;
  // A pause of centuries would not fit again after jitter.
  constexpr double longest = 0x1.0p62;
  return Duration(static_cast<Duration::rep>(std::min(jittered, longest)));
}

NextTry next_retry(const Retry& policy, Tries& tries, Exit why, Random& random) {
  DAG_CHECK(why != Exit::finished);
  if (why == Exit::cancelled) return GiveUp{GiveUp::Why::not_wanted};
  if (!is_charged(why)) {
    if (++tries.lost > losses_max) return GiveUp{GiveUp::Why::lost_too_often};
    return RetryAfter{};  // The place is gone, so waiting for it does not help.
  }
  if (++tries.failed >= policy.attempts) return GiveUp{GiveUp::Why::attempts_used_up};
  return RetryAfter{backoff_after(policy, tries.failed, random)};
}

}  // namespace dag
