#pragma once
// A peer is a program `dag-bench-peer-NAME WORKLOAD --option value...` that prints one line of JSON. It
// measures with its own clock, in its own process, after a warm-up of its own; dag-bench only starts it and
// reads the line.

#include <chrono>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/bench/shapes.hpp"

namespace dag::bench {

/// The request of dag-bench: a workload and its options.
class Request {
 public:
  Request(std::string called, std::string what) : program(std::move(called)), workload(std::move(what)) {}

  std::string program;
  std::string workload;
  std::map<std::string, std::string> options;
  /// Flags that a launcher adds for the runtime: `--dag-no-rings`.
  std::vector<std::string> runtime_flags;

  std::uint64_t number(const std::string& name, std::uint64_t otherwise) const {
    const auto found = options.find(name);
    return found == options.end() ? otherwise : std::stoull(found->second);
  }
  std::string text(const std::string& name) const {
    const auto found = options.find(name);
    return found == options.end() ? "" : found->second;
  }
  /// Lanes, threads or workers.
  int threads() const { return static_cast<int>(number("threads", 2)); }
  /// The graph that `--shape` and `--tasks` name.
  Shape shape() const { return shape_of(number("tasks", 1000)); }
  /// The graphs for measuring an empty graph: a warm-up of the same shape but not above 100,000 tasks, then
  /// the one that counts.
  std::vector<Shape> rounds() const {
    const std::uint64_t tasks = number("tasks", 1000);
    return {shape_of(std::min<std::uint64_t>(tasks, 100'000)), shape_of(tasks)};
  }

 private:
  Shape shape_of(std::uint64_t tasks) const {
    const auto found = Shape::by_name(text("shape"), static_cast<std::uint32_t>(tasks));
    if (!found) throw std::invalid_argument("no shape is called '" + text("shape") + "'");
    return *found;
  }
};

/// A peer's answer: figures in seconds, bytes or counts, by name; digests as words, since JSON's numbers end
/// at 2^53.
struct Figures {
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> words;

  static Figures of_digest(std::uint64_t digest) { return {{}, {{"digest", std::to_string(digest)}}}; }
};

/// Seconds since it was made, or since the last lap.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double lap() {
    const double passed = seconds();
    start_ = Clock::now();
    return passed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Thrown for a workload that this peer does not have: dag-bench must not ask for it.
struct UnknownWorkload : std::invalid_argument {
  explicit UnknownWorkload(const Request& request)
      : std::invalid_argument("this peer has no workload '" + request.workload + "'") {}
};

/// Defined once by each peer. In a peer of several processes only the first returns.
Figures measure(const Request& request);

}  // namespace dag::bench
