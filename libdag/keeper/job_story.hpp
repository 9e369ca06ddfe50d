#pragma once
// What a person wants to know of a job's tasks, gathered from the records of its cell while it runs. Decides
// what is kept and what is only counted: the memory of it is bounded, however many tasks fail and however
// many names they have.

#include <map>
#include <string>

#include "libdag/journal/record.hpp"
#include "libdag/keeper/messages.hpp"

namespace dag {

/// Tasks by their names.
struct TaskCounts {
  std::vector<ClassInfo> classes;
  JobCounts others;  ///< of further names, all together
};

class JobStory {
 public:
  /// Any record of the job; all but TasksKnown and Settled change nothing.
  void add(const Record& record);
  /// So many tasks of this name finished, in time as far as is known.
  void add_finished(const std::string& name, std::uint64_t tasks);
  JobDetails details() const;
  TaskCounts counts() const;

  /// Tasks that are kept. One that failed takes the place of one that another failure ended.
  static constexpr std::size_t tasks_max = 100;
  /// Names that are counted apart; the first ones that are heard of.
  static constexpr std::size_t classes_max = 100;
  /// Longer names and texts are cut.
  static constexpr std::size_t text_bytes_max = 1024;

 private:
  JobCounts& counts_of(const std::string& name);
  void add(const Record& record, const recorded::Settled& settled);
  void keep(TaskInfo task);

  JobDetails details_;  ///< all but the classes
  std::map<std::string, JobCounts> classes_;
};

}  // namespace dag
