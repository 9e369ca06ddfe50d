#include "libdag/story/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "libdag/story/journal_view.hpp"
#include "libdag/story/task_names.hpp"

namespace dag::detail {
namespace {

using TimelineTrack = std::pair<ProcessId, std::uint32_t>;

TimelineTrack track_of(const EventPlace& place) { return {place.process, place.lane.value_or(0)}; }

/// A lane while its runs are read. Runs come in the order of their ends and do not overlap, so the columns
/// before the current run's first column are complete.
class LaneColumns {
 public:
  LaneColumns(TimelineLane& lane, const TimelineWindow& window) : lane_(lane), window_(window) {
    lane.column_busy.resize(window.columns);
    lane.column_name.resize(window.columns, -1);
  }

  /// From begin to end, as times of the window.
  void add(Duration begin, Duration end, std::uint32_t name) {
    const Duration length = window_.to - window_.from;
    if (length <= Duration{0}) return;
    begin = std::max(begin, window_.from);
    end = std::min(end, window_.to);
    const auto border = [&](std::size_t column) {
      return window_.from + Duration(static_cast<Duration::rep>(static_cast<double>(length.count()) *
                                                                static_cast<double>(column) /
                                                                static_cast<double>(window_.columns)));
    };
    const double part = static_cast<double>((begin - window_.from).count()) /
                        static_cast<double>(length.count()) * static_cast<double>(window_.columns);
    for (auto column = static_cast<std::size_t>(part); column < window_.columns; ++column) {
      const Duration from = std::max(begin, border(column)), to = std::min(end, border(column + 1));
      if (border(column) >= end) break;
      if (to <= from) continue;
      if (column > open_) close();
      open_ = std::max(open_, column);
      in_open_[name] += to - from;
    }
  }

  void close() {
    Duration all{0}, most{0};
    for (const auto& [name, ran] : in_open_) {
      all += ran;
      if (ran <= most) continue;
      most = ran;
      lane_.column_name[open_] = static_cast<std::int32_t>(name);
    }
    in_open_.clear();
    if (all <= Duration{0}) return;
    const double width =
        static_cast<double>((window_.to - window_.from).count()) / static_cast<double>(window_.columns);
    const double busy = std::min(1.0, static_cast<double>(all.count()) / width);
    // Not seen is not idle.
    lane_.column_busy[open_] = std::max(0.001, std::round(busy * 1000) / 1000);
  }

 private:
  TimelineLane& lane_;
  const TimelineWindow& window_;
  std::size_t open_ = 0;
  std::map<std::uint32_t, Duration> in_open_;
};

/// Results of the first reading.
struct KnownLanes {
  TaskNames names;
  std::map<TimelineTrack, TimelineLane> lanes;
  std::int64_t began = std::numeric_limits<std::int64_t>::max(), ended = 0;
};

KnownLanes read_lanes(const JournalPaths& journals, JobId job) {
  KnownLanes known;
  JournalView view(journals);
  while (const auto entry = view.next()) {
    if (entry->record.job != job) continue;
    known.names.add(entry->record);
    const auto* ran = std::get_if<event::Ran>(&entry->record.what);
    if (ran == nullptr) continue;
    TimelineLane& lane = known.lanes[track_of(entry->record.place)];
    lane.place = entry->record.place;
    ++lane.runs;
    lane.busy += ran->ran;
    known.began = std::min(known.began, entry->unix_ns - ran->ran.count());
    known.ended = std::max(known.ended, entry->unix_ns);
  }
  return known;
}

/// Which of Timeline::names is a task's.
class NameIndex {
 public:
  NameIndex(Timeline& timeline, const TaskNames& names) : names_(names) {
    const auto& all = names.names();
    timeline.names.assign(
        all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), timeline_names_max)));
    if (all.size() > timeline_names_max) {
      others_ = static_cast<std::uint32_t>(timeline.names.size());
      timeline.names.push_back("(others)");
    }
    unknown_ = static_cast<std::uint32_t>(timeline.names.size());
    timeline.names.push_back("(unknown)");
  }
  std::uint32_t of(TaskId task) const {
    const auto index = names_.index_of(task);
    if (!index) return unknown_;
    return *index < timeline_names_max ? *index : others_;
  }

 private:
  const TaskNames& names_;
  std::uint32_t others_ = 0, unknown_ = 0;
};

void limit(TimelineWindow& window, Duration span) {
  window.columns = std::clamp<std::size_t>(window.columns, 1, timeline_columns_max);
  window.from = std::clamp(window.from, Duration{0}, span);
  if (window.to <= window.from || window.to > span) window.to = span;
  if (window.from >= window.to) window.from = Duration{0};
}

}  // namespace

bool is_mark(const EventWhat& what) {
  return std::holds_alternative<event::Lost>(what) || std::holds_alternative<event::Retried>(what) ||
         std::holds_alternative<event::Crashed>(what) || std::holds_alternative<event::OutputLost>(what) ||
         std::holds_alternative<event::StartedOver>(what) ||
         std::holds_alternative<event::RolledBack>(what) || std::holds_alternative<event::HomeGiven>(what) ||
         std::holds_alternative<event::Member>(what) || std::holds_alternative<event::Leads>(what);
}

Timeline make_timeline(const JournalPaths& journals, JobId job, TimelineWindow window,
                       std::vector<std::string>& notices) {
  KnownLanes known = read_lanes(journals, job);
  Timeline timeline;
  if (!known.lanes.empty()) {
    timeline.began_unix_ns = known.began;
    timeline.span = Duration(known.ended - known.began);
  }
  limit(window, timeline.span);
  timeline.window = window;
  timeline.slices.emplace();
  const NameIndex name_of(timeline, known.names);
  std::map<TimelineTrack, std::uint32_t> index_of;
  for (auto& [track, lane] : known.lanes) {
    index_of[track] = static_cast<std::uint32_t>(timeline.lanes.size());
    timeline.lanes.push_back(std::move(lane));
  }
  std::vector<LaneColumns> columns;
  for (TimelineLane& lane : timeline.lanes) columns.emplace_back(lane, timeline.window);
  const auto is_in_window = [&](Duration begin, Duration end) {
    return end >= window.from && begin <= window.to;
  };
  JournalView view(journals.doing("drawing the lanes"));
  while (const auto entry = view.next()) {
    const JournalEvent& record = entry->record;
    if (record.job != job) continue;
    const Duration at(entry->unix_ns - timeline.began_unix_ns);
    if (const auto* ran = std::get_if<event::Ran>(&record.what)) {
      const Duration begin = at - ran->ran;
      const auto lane = index_of.find(track_of(record.place));
      // Runs that a job has made since the first reading belong in the next picture.
      if (lane == index_of.end() || !is_in_window(begin, at)) continue;
      ++timeline.runs;
      const std::uint32_t name = name_of.of(record.task);
      columns[lane->second].add(begin, at, name);
      if (!timeline.slices) continue;
      timeline.slices->push_back({lane->second, name, record.task, begin, ran->ran, ran->outcome});
      if (timeline.slices->size() > timeline_slices_max) timeline.slices.reset();
    } else if (is_mark(record.what) && !timeline.lanes.empty() && is_in_window(at, at)) {
      if (timeline.marks.size() >= timeline_marks_max) {
        ++timeline.marks_beyond;
        continue;
      }
      const JournalLine line = line_of(*entry);
      timeline.marks.push_back(
          {at, line.place, (line.task ? known.names.name_of(*line.task) + " " : "") + line.what});
    }
  }
  for (LaneColumns& lane : columns) lane.close();
  notices = view.notices();
  return timeline;
}

}  // namespace dag::detail
