#pragma once
// Files that a kernel stages (Context::stage), and how they come to their place: where the kernel writes
// them, what is read back when it has returned, and the writing that nobody sees half of.

#include <filesystem>
#include <string>
#include <vector>

#include "dag/detail/publish.hpp"

namespace dag {

/// Of one attempt. Its directory goes with it; those of processes that died are removed by the next that
/// makes one on this host.
class Staging {
 public:
  Staging() = default;
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Throws Failure(usage).
  std::string stage(std::string_view path);
  /// What was written. Throws Failure(task_failed) when a staged file is not there.
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
/// `of` its task: what other attempts of it have left beside the place is removed. Throws Failure.
void publish_file(const std::string& path, const Blob& bytes, const std::string& of, const std::string& by);

}  // namespace dag
