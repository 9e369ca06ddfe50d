#pragma once
// What the lanes of a job did, as a picture of so many columns shows it: of each lane and column, for how
// much of it the lane was busy, and with what most. However many tasks there were, the picture stays as large
// as it is; where few lie in the window, it has them one by one. Made of the journals of nodes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/journal/record.hpp"
#include "libdag/story/journal_view.hpp"

namespace dag::detail {

/// Since the first run began.
struct TimelineWindow {
  std::size_t columns = 800;
  Duration from{0};
  Duration to{0};  ///< not behind `from`: until the end
};

struct TimelineLane {
  RecordPlace place;
  // Of the whole job.
  std::uint64_t runs = 0;
  Duration busy{0};
  // Of each column.
  std::vector<double> column_busy;        ///< 0 to 1, to a thousandth
  std::vector<std::int32_t> column_name;  ///< of what took most of it, in Timeline::names; -1: idle
};
struct TimelineSlice {
  std::uint32_t lane = 0;  ///< in Timeline::lanes
  std::uint32_t name = 0;  ///< in Timeline::names
  TaskId task;
  Duration begin{0}, ran{0};
  Outcome outcome = Outcome::finished;
};
/// What explains why a lane was idle, or ran something again.
struct TimelineMark {
  Duration at{0};
  std::string place, text;
};

struct Timeline {
  std::int64_t began_unix_ns = 0;  ///< 0: nothing ran
  Duration span{0};                ///< from the beginning of the first run to the end of the last one
  TimelineWindow window;           ///< with its ends as they were meant
  std::uint64_t runs = 0;          ///< in the window
  /// In the order in which tasks of that name settled first, so it stays as a job goes on; then, where there
  /// are more than timeline_names_max, the others; and what has not settled.
  std::vector<std::string> names;
  std::vector<TimelineLane> lanes;  ///< by place
  std::optional<std::vector<TimelineSlice>>
      slices;                       ///< none: more than timeline_slices_max are in the window
  std::vector<TimelineMark> marks;  ///< the first ones in the window
  std::uint64_t marks_beyond = 0;
};

inline constexpr std::size_t timeline_columns_max = 4000;
inline constexpr std::size_t timeline_names_max = 250;
inline constexpr std::size_t timeline_slices_max = 2000;
inline constexpr std::size_t timeline_marks_max = 500;

/// Reads these journals twice; in memory are the names of the job's tasks.
/// `notices` gets what could not be read. Throws Failure(usage) when there is no journal in one of them.
Timeline make_timeline(const JournalPaths& journals, JobId job, TimelineWindow window,
                       std::vector<std::string>& notices);

/// It explains why a lane was idle, or ran a task again: marked where it happened.
bool is_mark(const RecordWhat& what);

}  // namespace dag::detail
