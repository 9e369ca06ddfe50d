#pragma once
// Reads the journals of nodes for a person or a program, when the cluster may be gone: the entries of all
// files, in the order of time.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/journal/event.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/story/task_names.hpp"

namespace dag::detail {

/// Progress: the current activity, and its part done, from 0 to 1. Called at times on the working thread.
using OnProgress = std::function<void(std::string_view doing, double part)>;

/// The journals to read, and the receiver of progress.
struct JournalPaths {
  JournalPaths(std::vector<std::string> of, OnProgress told = {})
      : paths(std::move(of)), on_progress(std::move(told)) {}
  JournalPaths(std::initializer_list<std::string> of) : paths(of) {}
  /// Each is a file of a journal, a directory with such files, a node's directory of data or of logs, or a
  /// directory with such directories.
  std::vector<std::string> paths;
  OnProgress on_progress;  ///< may be empty
  /// The same journals, read for another activity.
  JournalPaths doing(std::string_view what) const {
    if (!on_progress) return *this;
    return {paths, [on = on_progress, what](std::string_view, double part) { on(what, part); }};
  }
};

/// An event with its node and time.
struct JournalEntry {
  std::int64_t unix_ns = 0;  ///< since 1970, by the clock of the node
  Life node;                 ///< whose journal it is from
  JournalEvent record;
};

/// An entry as text, for a person.
struct JournalLine {
  std::int64_t unix_ns = 0;
  Life node;
  std::string place;  ///< where it happened: n1, n1/w1/l0
  JobId job;
  std::optional<TaskId> task;  ///< none: the line is about the job, or a process of it
  std::string name;            ///< the task's, where the event has it
  std::string kind;            ///< settled, member, ...: stable
  std::string what;            ///< for a person: `settled failed after 3 tries: it threw`
  bool failed = false;         ///< a task that failed or crashed its process
};

JournalLine line_of(const JournalEntry& entry);

/// The lines to select.
struct LineFilter {
  std::optional<JobId> job;
  TaskSelector tasks = {};  ///< for events about tasks; `failed`: failed tasks and crashes
  bool takes(const JournalLine& line) const;
};

/// True: a search for lines of these tasks needs the event. A search by name needs all events that have no
/// name, and those whose name other events lack.
bool may_matter(const JournalEvent& record, const TaskSelector& which);

class JournalView {
 public:
  /// Throws Failure(usage) when there is no journal at one of the paths.
  explicit JournalView(const JournalPaths& journals);
  ~JournalView();
  JournalView(const JournalView&) = delete;
  JournalView& operator=(const JournalView&) = delete;

  /// The earliest entry not returned yet; between nodes the order is as good as their clocks. At most two
  /// files of each node are in memory.
  std::optional<JournalEntry> next();
  /// Gaps: parts of the files so far that could not be read, or that were dropped when they were written.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  struct Source;
  void tell_progress();

  std::vector<std::unique_ptr<Source>> sources_;
  const OnProgress on_progress_;
  std::uint64_t told_ = 0;  ///< entries
  std::vector<std::string> notices_;
};

/// The lines that pass a filter, one after another. Few events have the name of their task. A search by name
/// learns names from those that do, which costs memory per task: from the job's graph, which is among the
/// first events, and from the ends of spawned tasks.
class LineSearch {
 public:
  /// The view must outlive this object.
  LineSearch(JournalView& view, LineFilter filter);
  std::optional<JournalLine> next();
  /// The entry of the last line.
  const JournalEntry& entry() const { return *entry_; }

 private:
  JournalView& view_;
  std::optional<JournalEntry> entry_;
  const LineFilter filter_;
  std::map<JobId, TaskNames> names_;
};

}  // namespace dag::detail
