#include "libdag/supervision/lease.hpp"

#include <algorithm>

namespace dag {

std::optional<Instant> Lease::ask_at() const {
  if (!wanted_) return std::nullopt;
  return asked_ ? *asked_ + length_ / 4 : Instant{};
}

std::optional<std::uint64_t> Lease::question(Instant now) {
  const auto at = ask_at();
  if (!at || *at > now) return std::nullopt;
  // An answer to one of these would come too late to be of use.
  std::erase_if(open_, [&](const auto& one) { return one.second + length_ <= now; });
  asked_ = now;
  open_[++number_] = now;
  return number_;
}

void Lease::answered(std::uint64_t number) {
  const auto found = open_.find(number);
  if (found == open_.end()) return;
  granted_ = granted_ ? std::max(*granted_, found->second) : found->second;
  open_.erase(open_.begin(), std::next(found));
}

}  // namespace dag
