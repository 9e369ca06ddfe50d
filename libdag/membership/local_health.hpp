#pragma once
// Self-doubt before accusing others (Dadgar, Phillips, Currey: Lifeguard, 2018). A slow process hears others
// late and would call them dead; so the worse its own health, the longer its patience. Decides the
// multiplier; the machine decides which signs are bad.

#include <algorithm>
#include <cstdint>

#include "libdag/base/time.hpp"

namespace dag {

class LocalHealth {
 public:
  static constexpr std::int64_t multiplier_max = 8;
  void worse() { multiplier_ = std::min(multiplier_ + 1, multiplier_max); }
  void better() { multiplier_ = std::max<std::int64_t>(multiplier_ - 1, 1); }
  std::int64_t multiplier() const { return multiplier_; }
  Duration stretch(Duration patience) const { return patience * multiplier_; }

 private:
  std::int64_t multiplier_ = 1;
};

}  // namespace dag
