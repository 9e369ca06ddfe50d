#pragma once
// A workflow of commands, as people write it in TOML. Errors name file, line and
// column.
//
//   name = "nightly"                      # optional
//   [task.fetch]
//   command = "curl -sO https://..."      # a string is for /bin/sh; a list is a program and its arguments
//   [task.count]
//   command = ["wc", "-l", "data.csv"]
//   after = ["fetch"]                     # or one name
//   attempts = 3                          # how often it is tried
//   timeout_seconds = 60                  # of one attempt
//   cpus = 2
//   effects = "exclusive"                 # "pure", "idempotent" (default), "exclusive", "at_most_once";
//                                         # attempts never overlap unless it is "pure"
//   directory = "work"
//   environment = { LANG = "C" }
//   inputs = ["data.csv"]                 # files, or one; the task follows those whose outputs they are
//   outputs = "count.txt"                 # staged: another task sees a file when the command has succeeded

#include <dag/options.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dag::tool {

struct FlowTask {
  std::string id;
  std::vector<std::string> words;
  std::vector<std::string> environment;  ///< NAME=VALUE
  std::string directory;
  std::vector<std::size_t> after;         ///< positions; of tasks whose outputs it reads, too
  std::vector<std::string> outputs;       ///< paths, with the directory before them
  Effects effects = Effects::idempotent;  ///< staged where it has outputs
  std::uint32_t attempts = 1;
  std::optional<double> timeout_seconds;
  double cpus = 1;
};
struct Flow {
  std::string name;
  std::vector<FlowTask> tasks;  ///< in the order of the file
};

/// The ending of a file's name, in small letters: `.toml` of Flow.TOML.
std::string ending_of(const std::string& path);
/// True: files with this ending are workflows that other programs have recorded.
bool is_of_recorded_workflows(std::string_view ending);
/// True: a file is read as TOML: by its name, or since it is in no other format that `dag flow` reads.
bool is_flow(const std::string& path, std::string_view text);
/// Throws Failure(configuration_invalid).
Flow read_flow(const std::string& path, const std::string& text);

}  // namespace dag::tool
