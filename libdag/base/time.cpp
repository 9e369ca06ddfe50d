#include "libdag/base/time.hpp"

#include <cstdio>

namespace dag {

std::string text_of(Duration duration) {
  struct Unit {
    std::int64_t size_ns;
    const char* name;
  };
  static constexpr Unit units[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}};
  const std::int64_t count = duration.count();
  for (const auto& unit : units) {
    if (count < unit.size_ns && count > -unit.size_ns) continue;
    char text[48];
    std::snprintf(text, sizeof text, "%.4g%s", static_cast<double>(count) / static_cast<double>(unit.size_ns),
                  unit.name);
    return text;
  }
  return "0";
}

}  // namespace dag
