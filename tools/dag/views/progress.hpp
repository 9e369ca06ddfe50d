#pragma once
// What is shown of a job that is watched: on a terminal, as one line, and for programs. Decides only; when
// the job is asked about, and where this is written, is watch.cpp.

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

/// How fast tasks end, from what was heard of the job when.
class Pace {
 public:
  /// The pace is that of so long, or since the answer before where answers are rarer.
  static constexpr Duration window = std::chrono::seconds(10);

  void on_counts(const JobCounts& counts, Instant now);
  /// Nothing: none has ended lately.
  std::optional<double> tasks_per_second() const;
  /// Until so many have ended, at this pace.
  std::optional<Duration> left(std::uint64_t open) const;
  /// The job has spawned tasks lately: nobody knows of how many tasks these are a part.
  bool open_ended() const;

 private:
  struct Heard {
    Instant at;
    std::uint64_t ended = 0, known = 0;
  };
  std::deque<Heard> heard_;  ///< the first one is as old as the window, or older
};

/// Whether a line is worth it: the counts, the phase, the number of processes or what kernels say of
/// themselves are others.
bool is_news(const JobInfo& before, const JobInfo& now);

/// A line for each of at most screen.rows - 1: below them stands the cursor. Names that find no room are
/// counted.
std::vector<std::string> progress_lines(const JobInfo& job, const Pace& pace, const Screen& screen,
                                        const std::optional<PathLeft>& path = {});

std::string progress_line(const JobInfo& job, const Pace& pace, const std::optional<PathLeft>& path = {});
/// What `dag show --json` says, the pace, and what is left of the critical path.
nlohmann::json progress_json(const JobInfo& job, const Pace& pace, const std::optional<PathLeft>& path = {});

}  // namespace dag::tool
