#pragma once
// How a reader puts the edges of a workflow together: tasks and files are named by strings, named several
// times (as parent and as child), and before they are known.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "libdag/graph/workflow.hpp"

namespace dag {

class WorkflowLinks {
 public:
  /// Says no when another task has this name already.
  bool add_task(const std::string& id, std::uint32_t index) { return tasks_.emplace(id, index).second; }
  void add_dependency(std::string parent, std::string child) {
    dependencies_.push_back({std::move(parent), std::move(child)});
  }
  void add_output(std::uint32_t task, std::string file, std::uint64_t size_bytes) {
    writers_[std::move(file)].push_back({task, size_bytes});
  }
  void add_input(std::uint32_t task, std::string file) { readers_[task].insert(std::move(file)); }

  /// Every dependency once, with the bytes of the files between the two; an Error names a task that nobody
  /// has.
  Result<std::vector<WorkflowEdge>> edges() const;

 private:
  struct Dependency {
    std::string parent;
    std::string child;
  };
  struct Written {
    std::uint32_t task;
    std::uint64_t size_bytes;
  };
  std::map<std::string, std::uint32_t> tasks_;
  std::vector<Dependency> dependencies_;
  std::map<std::string, std::vector<Written>> writers_;
  std::map<std::uint32_t, std::set<std::string>> readers_;
};

}  // namespace dag
