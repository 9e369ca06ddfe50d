#pragma once
// The form in which people write durations: 30s, 5m, 1h30m, 250ms. A bare number is in seconds.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace dag::tool {

inline constexpr double duration_max_seconds = 1e9;
/// How often a command may look again.
inline constexpr double looks_every_min_seconds = 0.05, looks_every_max_seconds = 86400;

/// Empty: it is no duration, or longer than the longest.
std::optional<double> seconds_of(std::string_view text);

/// Lets an option, whose value is in seconds, be written as a duration; from `least` to `most` seconds.
CLI::Option* takes_duration(CLI::Option* option, double least = 0, double most = duration_max_seconds);

}  // namespace dag::tool
