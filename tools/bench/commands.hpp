#pragma once
// Parts shared by all commands: the runners that take part, the number of repetitions, and the interleaving.
// A command is a function from Settings to its measurements.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/report.hpp"
#include "tools/bench/runner.hpp"

namespace dag::bench {

/// Selects from an answer the figure of a row and its parts, by name; all times `factor`.
struct Figure {
  struct Part {
    std::string shown, number;
  };
  std::string number;
  double factor = 1;
  std::vector<Part> parts = {};  ///< parts that the runner does not report are left out
};

/// `name=value` as options of an Ask.
using Options = std::map<std::string, std::string>;

/// A runner, and its launcher when it is several processes.
struct Participant {
  std::string_view runner;
  std::vector<std::string> launcher = {};
  /// Options of this participant besides those of all.
  Options options = {};
  /// Its name in tables, where that is not the runner's name.
  std::string shown = std::string(runner);

  /// The common question with this participant's options.
  Ask asked(Ask what) const;
};

class Settings {
 public:
  int threads = 2;
  int repetitions = 5;
  bool quick = false;
  /// Empty: all that are built.
  std::vector<std::string> peers = {};

  /// The participants among `candidates`: libdag always, peers when wanted and built. Others are noted as
  /// skipped.
  std::vector<std::string_view> runners(const std::vector<std::string_view>& candidates);
  const std::vector<Skipped>& skipped() const { return skipped_; }
  /// Prints a line on stderr.
  void say(const std::string& progress) const;

  /// The repetitions of one workload: the first of every runner, the second of every runner, and so on.
  Row measure(std::string workload, std::string unit, const std::vector<Participant>& taking_part,
              const Ask& what, const Figure& figure);
  /// Runners that are one process each.
  Row measure(std::string workload, std::string unit, const std::vector<std::string_view>& taking_part,
              const Ask& what, const Figure& figure);

 private:
  std::vector<Skipped> skipped_;
};

Section overhead(Settings& settings);
Section metg_in_one(Settings& settings);
Section distributed(Settings& settings);
Section growth(Settings& settings);
Section memory(Settings& settings);
Section latency(Settings& settings);
Section submit(Settings& settings);
Section submits(Settings& settings);
Section coarse(Settings& settings);
Section steal(Settings& settings);
Section blob(Settings& settings);
Section isolated(Settings& settings);
Section placement(Settings& settings);
Section durability(Settings& settings);
Section replicated(Settings& settings);
Section journal(Settings& settings);
Section watched(Settings& settings);
Section checkpoints(Settings& settings);
Section scale(Settings& settings);
Section idle(Settings& settings);

}  // namespace dag::bench
