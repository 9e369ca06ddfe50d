#pragma once
// What the journals of nodes say, for a person or a program that asks when the cluster may be gone: their
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
#include "libdag/journal/record.hpp"
#include "libdag/keeper/messages.hpp"
#include "libdag/story/task_names.hpp"

namespace dag::detail {

/// What is being done, and which part of it is, from 0 to 1. Called now and then, on the thread that works.
using OnProgress = std::function<void(std::string_view doing, double part)>;

/// Which journals are to be read, and who is told how far that is.
struct JournalPaths {
  JournalPaths(std::vector<std::string> of, OnProgress told = {})
      : paths(std::move(of)), on_progress(std::move(told)) {}
  JournalPaths(std::initializer_list<std::string> of) : paths(of) {}
  /// Each a file of a journal, a directory with such files, a node's directory of data or of logs, or one
  /// with such directories in it.
  std::vector<std::string> paths;
  OnProgress on_progress;  ///< may be empty
  /// The same, read for something else.
  JournalPaths doing(std::string_view what) const {
    if (!on_progress) return *this;
    return {paths, [on = on_progress, what](std::string_view, double part) { on(what, part); }};
  }
};

/// One record.
struct JournalEntry {
  std::int64_t unix_ns = 0;  ///< since 1970, by the clock of the node
  Life node;                 ///< whose journal it is from
  Record record;
};

/// The same, for a person.
struct JournalLine {
  std::int64_t unix_ns = 0;
  Life node;
  std::string place;  ///< where it happened: n1, n1/w1/l0
  JobId job;
  std::optional<TaskId> task;  ///< none: it is about the job, or a process of it
  std::string name;            ///< the task's, where the record has it
  std::string kind;            ///< settled, member, ...: stable
  std::string what;            ///< for a person: `settled failed after 3 tries: it threw`
  bool failed = false;         ///< a task that failed, or took its process down
};

JournalLine line_of(const JournalEntry& entry);

/// Which lines somebody wants.
struct LineFilter {
  std::optional<JobId> job;
  TaskSelector tasks = {};  ///< of records about tasks; `failed`: that failed, or took their process down
  bool takes(const JournalLine& line) const;
};

/// Whether who looks for lines about these tasks needs the record. By a name all are needed that say no name,
/// or whose name another record may need.
bool may_matter(const Record& record, const TaskSelector& which);

class JournalView {
 public:
  /// Throws Failure(usage) when there is no journal at one of the paths.
  explicit JournalView(const JournalPaths& journals);
  ~JournalView();
  JournalView(const JournalView&) = delete;
  JournalView& operator=(const JournalView&) = delete;

  /// The earliest that has not been told; of two nodes as well as their clocks agree. At most two files of
  /// each node lie in memory.
  std::optional<JournalEntry> next();
  /// What could not be read of the files that were read until now, or was dropped when they were written.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  struct Source;
  void tell_progress();

  std::vector<std::unique_ptr<Source>> sources_;
  const OnProgress on_progress_;
  std::uint64_t told_ = 0;  ///< entries
  std::vector<std::string> notices_;
};

/// The lines that pass a filter, one after another. Few records say the name of their task; where one is
/// asked for, it is known from those that do, which costs memory per task: the job's graph, which is among
/// the first, and of a spawned task its end.
class LineSearch {
 public:
  /// The view outlives it.
  LineSearch(JournalView& view, LineFilter filter);
  std::optional<JournalLine> next();
  /// What the last one was made of.
  const JournalEntry& entry() const { return *entry_; }

 private:
  JournalView& view_;
  std::optional<JournalEntry> entry_;
  const LineFilter filter_;
  std::map<JobId, TaskNames> names_;
};

}  // namespace dag::detail
