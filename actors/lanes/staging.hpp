#pragma once
// Files that a kernel stages (Context::stage): where the kernel writes them, how they are read back when it
// has returned, and how they are published in one step.

#include <filesystem>
#include <string>
#include <vector>

#include "dag/detail/publish.hpp"

namespace dag {

/// The staged files of one attempt. Their directory is removed with it; directories of processes that died
/// are removed by the next Staging of this host.
class Staging {
 public:
  Staging() = default;
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Throws Failure(usage).
  std::string stage(std::string_view path);
  /// The contents of the staged files. Throws Failure(task_failed) when a staged file is not there.
  std::vector<detail::StagedFile> read() const;

 private:
  struct File {
    std::string path;
    std::filesystem::path written_at;
  };
  std::filesystem::path directory_;  ///< empty: nothing was staged yet
  std::vector<File> files_;
};

/// Puts the bytes at `path`, in one step and so that they outlive a loss of power. `by` names the attempt,
/// `of` its task: leftovers of other attempts of the task beside `path` are removed. Throws Failure.
void publish_file(const std::string& path, const Blob& bytes, const std::string& of, const std::string& by);

}  // namespace dag
