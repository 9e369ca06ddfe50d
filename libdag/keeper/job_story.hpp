#pragma once
// Summary of a job's tasks for people, from the records of its cell while the job runs. Decides
// which tasks are kept and which are only counted: memory is bounded for any number of failures and
// names.

#include <map>
#include <string>

#include "libdag/journal/event.hpp"
#include "libdag/keeper/messages.hpp"

namespace dag {

/// Tasks by their names.
struct TaskCounts {
  std::vector<ClassInfo> classes;
  JobCounts others;  ///< tasks of further names, all together
};

class JobStory {
 public:
  /// Takes any record of the job; only TasksKnown and Settled change anything.
  void add(const JournalEvent& record);
  /// Counts `tasks` of this name as finished, in time as far as is known.
  void add_finished(const std::string& name, std::uint64_t tasks);
  JobDetails details() const;
  TaskCounts counts() const;

  /// Limit of kept tasks. A task that failed replaces one that ended by another task's failure.
  static constexpr std::size_t tasks_max = 100;
  /// Limit of names that are counted separately, in the order of their first task.
  static constexpr std::size_t classes_max = 100;
  /// Longer names and texts are cut.
  static constexpr std::size_t text_bytes_max = 1024;

 private:
  JobCounts& counts_of(const std::string& name);
  void add(const JournalEvent& record, const event::Settled& settled);
  void keep(TaskInfo task);

  JobDetails details_;  ///< all but the classes
  std::map<std::string, JobCounts> classes_;
};

}  // namespace dag
