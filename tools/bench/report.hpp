#pragma once
// A command's measurements, as values; and the two ways to show them: a table, and JSON with the same
// figures.

#include <iosfwd>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/machine.hpp"
#include "tools/bench/statistics.hpp"

namespace dag::bench {

/// The repetitions of one workload by a runner.
struct Series {
  std::string runner;
  std::vector<double> values;
  /// The least of the rounds of each repetition, where a repetition is several rounds in one process.
  std::vector<double> least = {};
  /// The parts of the values, or further measurements, where the runner reports them.
  struct Part {
    std::string name;
    std::vector<double> values;  ///< one per repetition
  };
  std::vector<Part> parts = {};
  /// At least one value is only known to be more than stated.
  bool lower_bound = false;

  double median() const { return summarise(values).median; }
  /// The least over all rounds of all repetitions.
  double minimum() const { return summarise(least.empty() ? values : least).minimum; }
  /// The part of that name, made when it is not there.
  Part& part(const std::string& name);
};

/// The series of all runners for a workload.
struct Row {
  std::string workload;
  std::string unit;
  std::vector<Series> series;

  /// Null when the runner was not there.
  const Series* find(std::string_view runner) const;
  /// The runner's median over the other's; empty when either was not there, or the other is only known to be
  /// more.
  std::optional<double> ratio(std::string_view runner, std::string_view other) const;
};

/// A goal of the project against what came out.
struct Verdict {
  std::string goal;      ///< as G1
  std::string workload;  ///< what was measured
  std::string wanted;    ///< for people: "≤ 5 × floor"
  double limit = 0;
  double result = 0;
  bool at_most = true;  ///< otherwise at least

  /// "≤ 5 µs" of limit and unit.
  static std::string at_most_text(double limit, std::string_view unit);

  bool met() const { return at_most ? result <= limit : result >= limit; }
};

/// The results of a command.
struct Section {
  std::string command;
  std::string explained;  ///< the procedure and its checks
  std::vector<Row> rows = {};
  std::vector<Verdict> verdicts = {};

  /// Adds the verdict `libdag <= limit x other`, where it can be told.
  void judge_ratio(std::string goal, const Row& row, std::string_view other, double limit);
};

/// A peer that could not be measured, and the Debian package that helps.
struct Skipped {
  std::string runner;
  std::string package;
};

/// A command that ended without figures; those of the others stand.
struct Failed {
  std::string command;
  std::string why;
};

struct Report {
  Machine machine;
  int threads = 0;
  int repetitions = 0;
  bool quick = false;
  std::vector<Skipped> skipped = {};
  std::vector<Section> sections = {};
  std::vector<Failed> failed = {};
};

nlohmann::json to_json(const Report& report);
void print(std::ostream& out, const Report& report);

}  // namespace dag::bench
