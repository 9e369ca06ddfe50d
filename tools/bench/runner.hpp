#pragma once
// The measured programs: where they are, what they need, and how one is asked for a measurement.

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dag::bench {

/// libdag or one of its peers.
struct Runner {
  std::string_view name;
  std::string_view package;  ///< of Debian: without it the program is not built
};
inline constexpr std::string_view libdag = "libdag";
inline constexpr std::string_view floor_runner = "floor";

/// All there can be, in the order of the tables.
const std::vector<Runner>& all_runners();

/// The folder of dag-bench itself: the programs lie beside it.
std::string program_folder();
bool is_built(std::string_view runner);

/// A question to a runner: a workload and its options.
struct Ask {
  std::string workload;
  std::map<std::string, std::string> options;
  /// The launcher of two processes, as `dag run -n 2`; the program is told `--processes 2`.
  std::vector<std::string> launcher = {};
  std::chrono::seconds limit = std::chrono::seconds(300);
};

/// A runner's answer; see peers/peer.hpp.
struct Answer {
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> words;

  /// Throws std::runtime_error when the runner did not report it.
  double number(const std::string& name) const;
};

/// Starts the runner's program and waits for its line. Throws std::runtime_error, with the program's stderr,
/// when it fails or takes longer than the limit (it is ended then).
Answer ask(std::string_view runner, const Ask& what);
/// The same for any program that prints its answer as a line of JSON. The first word is looked for beside
/// dag-bench, then in PATH.
Answer ask_program(std::vector<std::string> words, std::chrono::seconds limit);

}  // namespace dag::bench
