#include "libdag/base/time.hpp"

#include <cmath>
#include <cstdio>

namespace dag {

std::string text_of(Duration duration) {
  struct Unit {
    std::int64_t size;
    const char* name;
  };
  static constexpr Unit units[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}};
  const std::int64_t count = duration.count();
  // From a minute on in two units: 1 min 40 s, 2 h 46 min, 3 d 4 h.
  static constexpr Unit long_units[] = {{86'400, "d"}, {3'600, "h"}, {60, "min"}, {1, "s"}};
  const std::int64_t seconds = count / units[0].size;
  for (const Unit* unit = long_units; unit->size > 1; ++unit) {
    if (seconds < unit->size && seconds > -unit->size) continue;
    const std::int64_t rest = seconds % unit->size / unit[1].size;
    std::string text = std::to_string(seconds / unit->size) + " " + unit->name;
    if (rest != 0) text += " " + std::to_string(rest < 0 ? -rest : rest) + " " + unit[1].name;
    return text;
  }
  for (const auto& unit : units) {
    if (count < unit.size && count > -unit.size) continue;
    const double value = static_cast<double>(count) / static_cast<double>(unit.size);
    char text[48];
    std::snprintf(text, sizeof text, std::abs(value) < 100 ? "%.3g %s" : "%.0f %s", value, unit.name);
    return text;
  }
  return "0 s";
}

}  // namespace dag
