#pragma once
// Finds the done tasks of a job that has ended (retried.hpp defines done). Reads the job's record alone.

#include <map>
#include <optional>
#include <vector>

#include "libdag/cell/retried.hpp"

namespace dag {

class DoneTasks {
 public:
  DoneTasks(const CellSnapshot& ended, const OutputsHeld& outputs);

  bool is_done(std::uint32_t task) const { return done_[task]; }
  const std::vector<bool>& all() const { return done_; }
  /// The task of the graph that it was spawned from; none: the spawning attempt does not count.
  std::optional<std::uint32_t> root_of(TaskId task) const;
  /// The task whose output is the task's: itself, or the task that it became.
  TaskId owner_of(std::uint32_t task) const;

 private:
  /// Tasks that an attempt spawned.
  struct Part {
    TaskId parent;
    std::uint32_t size = 0;
    std::uint32_t becomes = detail::none;
  };

  void read_record();
  void judge_spawned();
  void find_successors();
  void find_together();
  void put_together(const std::vector<std::uint32_t>& tasks);
  void look_again();
  void run_again(std::uint32_t task);
  void follow(std::uint32_t task);
  void need(std::uint32_t task);
  void need_inputs(std::uint32_t task);
  bool is_held(std::uint32_t task) const;
  bool is_made_again(std::uint32_t task) const;

  const CellSnapshot& ended_;
  const OutputsHeld& outputs_;
  const detail::Fragment& graph_;
  std::vector<bool> done_, needed_, finished_, spawned_;
  std::map<TaskId, const OutcomeRecord*> records_;  ///< of ended tasks that have one
  std::map<TaskId, Part> parts_;                    ///< by first task
  std::map<TaskId, TaskId> first_of_;               ///< first spawned task of a task
  std::vector<std::uint32_t> first_successor_, successors_;
  std::vector<std::vector<std::uint32_t>> together_;
  std::multimap<std::uint32_t, std::size_t> together_of_;  ///< by task
  /// Tasks that run again, and done ones whose output is read again; not examined yet.
  std::vector<std::uint32_t> again_, read_;
};

}  // namespace dag
