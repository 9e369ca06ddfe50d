#pragma once
// What is shown of a job that is watched: on a terminal, as one line, and for programs. Decides only; when
// the job is asked about, and where this is written, is watch.cpp.

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libdag/client/cluster.hpp"

namespace dag::tool {

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

 private:
  struct Heard {
    Instant at;
    std::uint64_t ended = 0;
  };
  std::deque<Heard> heard_;  ///< the first one is as old as the window, or older
};

struct Screen {
  static constexpr std::size_t columns_min = 20;
  std::size_t columns = 80;
  std::size_t rows = 24;
  bool colour = false;
};

bool has_ended(JobPhase phase);
/// Whether a line is worth it: the counts, the phase or the number of processes are others.
bool is_news(const JobInfo& before, const JobInfo& now);

/// A line for each of at most screen.rows - 1: below them stands the cursor. Names that find no room are
/// counted.
std::vector<std::string> progress_lines(const JobInfo& job, const Pace& pace, const Screen& screen);
/// The lines as a terminal takes them, in place of the `drawn` ones above its cursor.
std::string redrawn(const std::vector<std::string>& lines, std::size_t drawn);
/// What its terminal needs if that was written by half.
inline constexpr std::string_view drawing_ended = "\x1b[?7h\x1b[?25h";

std::string progress_line(const JobInfo& job, const Pace& pace);
/// What `dag show --json` says, and the pace.
nlohmann::json progress_json(const JobInfo& job, const Pace& pace);

}  // namespace dag::tool
