#pragma once
// What all commands share: which runners take part, how often, and the interleaving. A command is a function
// from this to what it has measured.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/report.hpp"
#include "tools/bench/runner.hpp"

namespace dag::bench {

class Settings {
 public:
  int threads = 2;
  int repetitions = 5;
  bool quick = false;
  /// Empty: all that are built.
  std::vector<std::string> peers = {};

  /// Those of `candidates` that take part: libdag always, peers when wanted and built. Others are noted as
  /// skipped.
  std::vector<std::string_view> runners(const std::vector<std::string_view>& candidates);
  const std::vector<Skipped>& skipped() const { return skipped_; }
  /// A line on stderr.
  void say(const std::string& progress) const;

  /// The repetitions of one workload: the first of every runner, the second of every runner, and so on.
  /// `what` is the question, `value` turns an answer into the figure of the row.
  Row measure(std::string workload, std::string unit, const std::vector<std::string_view>& taking_part,
              const Ask& what, const std::function<double(const Answer&)>& value,
              const std::map<std::string, std::function<double(const Answer&)>>& parts = {});

 private:
  std::vector<Skipped> skipped_;
};

/// `name=value` as options of an Ask.
using Options = std::map<std::string, std::string>;

Section overhead(Settings& settings);
Section metg_in_one(Settings& settings);
Section distributed(Settings& settings);

}  // namespace dag::bench
