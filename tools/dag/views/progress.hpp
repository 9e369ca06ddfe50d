#pragma once
// The view of a watched job: on a terminal, as one line, and for programs. Decides only the text; watch.cpp
// decides when to ask for the job and where to write.

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "libdag/client/cluster.hpp"
#include "tools/dag/views/terminal.hpp"

namespace dag::tool {

/// For paces.
Instant steady_now();
/// Tasks per second, in as many digits as mean something.
std::string rate_text(double tasks_per_second);

/// The rate at which tasks end, from the counts and their times.
class Pace {
 public:
  /// The pace is measured over this time, or since the last answer where answers are rarer.
  static constexpr Duration window = std::chrono::seconds(10);

  void on_counts(const JobCounts& counts, Instant now);
  /// Nothing: no task has ended lately.
  std::optional<double> tasks_per_second() const;
  /// Time until so many tasks have ended, at this pace.
  std::optional<Duration> left(std::uint64_t open) const;
  /// The job has spawned tasks lately: the number of tasks to come is unknown.
  bool open_ended() const;

 private:
  struct Heard {
    Instant at;
    std::uint64_t ended = 0, known = 0;
  };
  std::deque<Heard> heard_;  ///< the first one is as old as the window, or older
};

/// True: a new line is worth printing, since the counts, the phase, the number of processes or the kernels'
/// progress differ.
bool is_news(const JobInfo& before, const JobInfo& now);

/// At most screen.rows - 1 lines: the cursor stands below them. Names that find no room are
/// counted.
std::vector<std::string> progress_lines(const JobInfo& job, const Pace& pace, const Screen& screen,
                                        const std::optional<PathLeft>& path = {});

std::string progress_line(const JobInfo& job, const Pace& pace, const std::optional<PathLeft>& path = {});
/// The fields of `dag show --json`, the pace, and the rest of the critical path.
nlohmann::json progress_json(const JobInfo& job, const Pace& pace, const std::optional<PathLeft>& path = {});

}  // namespace dag::tool
