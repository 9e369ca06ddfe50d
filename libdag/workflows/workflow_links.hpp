#pragma once
// Collects the edges of a workflow: its text names tasks and files by strings, several times (as parent and
// as child), and before they are known. A task that reads a file follows each task that writes the file, even
// if the workflow does not state that edge.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libdag/workflows/workflow.hpp"

namespace dag {

class WorkflowLinks {
 public:
  /// False: another task has this id already.
  bool add_task(const std::string& id, std::uint32_t index) { return tasks_.emplace(id, index).second; }
  /// A second name of a task. Several tasks may share a name, and a name may be another task's id: the id
  /// wins.
  void add_name(const std::string& name, std::uint32_t index) { names_[name].push_back(index); }
  void add_dependency(std::string parent, std::string child) {
    dependencies_.push_back({std::move(parent), std::move(child)});
  }
  void add_output(std::uint32_t task, std::string file, std::uint64_t size_bytes) {
    writers_[std::move(file)].push_back({task, size_bytes});
  }
  void add_input(std::uint32_t task, std::string file) { readers_[task].insert(std::move(file)); }

  /// Every dependency once, with the bytes of the files between the two; the Error names a task that does not
  /// exist, or an ambiguous name. Files order only tasks that dependencies leave unordered.
  Result<std::vector<WorkflowEdge>> edges() const;

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  Result<std::uint32_t> find(const std::string& id, const std::string& other, const char* role) const;
  struct Dependency {
    std::string parent;
    std::string child;
  };
  struct Written {
    std::uint32_t task;
    std::uint64_t size_bytes;
  };
  std::map<std::string, std::uint32_t> tasks_;
  std::map<std::string, std::vector<std::uint32_t>> names_;
  std::vector<Dependency> dependencies_;
  std::map<std::string, std::vector<Written>> writers_;
  std::map<std::uint32_t, std::set<std::string>> readers_;
};

}  // namespace dag
