#include "tools/dag/durations.hpp"

#include <charconv>
#include <sstream>

namespace dag::tool {
namespace {

constexpr struct {
  std::string_view unit;
  double seconds;
} units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
             {"m", 60},    {"min", 60},  {"h", 3600},  {"d", 86400}};

std::optional<double> seconds_in(std::string_view unit) {
  for (const auto& known : units) {
    if (known.unit == unit) return known.seconds;
  }
  return std::nullopt;
}

std::string as_text(double seconds) {
  std::ostringstream text;
  text.precision(17);
  text << seconds;
  return text.str();
}

}  // namespace

std::optional<double> seconds_of(std::string_view text) {
  const bool bare = !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
  double seconds = 0;
  if (bare) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  } else {
    // 1h30m: numbers, each with its unit.
    if (text.empty()) return std::nullopt;
    while (!text.empty()) {
      double number = 0;
      const auto [end, problem] =
          std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
      if (problem != std::errc{}) return std::nullopt;
      text.remove_prefix(static_cast<std::size_t>(end - text.data()));
      const std::size_t size = std::min(text.find_first_of("0123456789."), text.size());
      const auto unit = seconds_in(text.substr(0, size));
      if (!unit) return std::nullopt;
      seconds += number * *unit;
      text.remove_prefix(size);
    }
  }
  // A NaN fails both comparisons.
  return seconds >= 0 && seconds <= duration_max_seconds ? std::optional(seconds) : std::nullopt;
}

CLI::Option* takes_duration(CLI::Option* option, double least, double most) {
  const auto rewrite = [least, most](std::string& text) -> std::string {
    const auto seconds = seconds_of(text);
    if (!seconds) return "'" + text + "' is not a duration: write 30s, 5m, 1h30m or 250ms; 30 is 30 s";
    if (*seconds < least || *seconds > most)
      return "'" + text + "' is not from " + as_text(least) + " s to " + as_text(most) + " s";
    text = as_text(*seconds);
    return {};
  };
  return option->type_name("DURATION")->transform(CLI::Validator(rewrite, "", "duration"));
}

}  // namespace dag::tool
