#pragma once
// A picture of a job's lanes in a fixed number of columns: for each lane and column the busy share, and the
// name with most of it. The picture has the same size for any number of tasks; if few runs are in the window,
// it has them one by one. Made of the journals of nodes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/journal/event.hpp"
#include "libdag/story/journal_view.hpp"

namespace dag::detail {

/// Since the first run began.
struct TimelineWindow {
  std::size_t columns = 800;
  Duration from{0};
  Duration to{0};  ///< not after `from`: until the end
};

struct TimelineLane {
  EventPlace place;
  // In the whole job.
  std::uint64_t runs = 0;
  Duration busy{0};
  // Indexed by column.
  std::vector<double> column_busy;        ///< 0 to 1, to a thousandth
  std::vector<std::int32_t> column_name;  ///< name with most of it, in Timeline::names; -1: idle
};
struct TimelineSlice {
  std::uint32_t lane = 0;  ///< in Timeline::lanes
  std::uint32_t name = 0;  ///< in Timeline::names
  TaskId task;
  Duration begin{0}, ran{0};
  Outcome outcome = Outcome::finished;
};
/// An event that explains why a lane was idle, or ran a task again.
struct TimelineMark {
  Duration at{0};
  std::string place, text;
};

struct Timeline {
  std::int64_t began_unix_ns = 0;  ///< 0: no run
  Duration span{0};                ///< from the beginning of the first run to the end of the last
  TimelineWindow window;           ///< with its ends resolved
  std::uint64_t runs = 0;          ///< in the window
  /// In the order of the first settled task of each name, so the order is stable while a job runs. Beyond
  /// timeline_names_max: one entry for all other names. Last: an entry for unsettled tasks.
  std::vector<std::string> names;
  std::vector<TimelineLane> lanes;                   ///< by place
  std::optional<std::vector<TimelineSlice>> slices;  ///< none: the window has more than timeline_slices_max
  std::vector<TimelineMark> marks;                   ///< the first marks in the window
  std::uint64_t marks_beyond = 0;
};

inline constexpr std::size_t timeline_columns_max = 4000;
inline constexpr std::size_t timeline_names_max = 250;
inline constexpr std::size_t timeline_slices_max = 2000;
inline constexpr std::size_t timeline_marks_max = 500;

/// Reads these journals twice, with the names of the job's tasks in memory. `notices` gets the gaps. Throws
/// Failure(usage) when there is no journal at one of the paths.
Timeline make_timeline(const JournalPaths& journals, JobId job, TimelineWindow window,
                       std::vector<std::string>& notices);

/// True: the event is shown as a mark.
bool is_mark(const EventWhat& what);

}  // namespace dag::detail
