#pragma once
// A workflow of commands, as people write it in TOML. What is not understood is refused with file, line and
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
//   directory = "work"
//   environment = { LANG = "C" }

#include <optional>
#include <string>
#include <vector>

namespace dag::tool {

struct FlowTask {
  std::string id;
  std::vector<std::string> words;
  std::vector<std::string> environment;  ///< NAME=VALUE
  std::string directory;
  std::vector<std::size_t> after;  ///< positions
  std::uint32_t attempts = 1;
  std::optional<double> timeout_seconds;
  double cpus = 1;
};
struct Flow {
  std::string name;
  std::vector<FlowTask> tasks;  ///< in the order of the file
};

/// Throws Failure(configuration_invalid).
Flow read_flow(const std::string& path, const std::string& text);

}  // namespace dag::tool
