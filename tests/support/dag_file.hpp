#pragma once
// Reads the .dag graphs that libdag is measured with (not part of this project; the environment says where
// they lie). A test that finds none says so and passes.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dag/detail/builder.hpp"
#include "libdag/base/time.hpp"

namespace dag::test {

struct DagFile {
  std::string name;
  /// Tasks with their `takes`, strong edges; a task's class is its name.
  detail::Fragment fragment;
  std::vector<std::uint64_t> edge_bytes;  ///< of the fragment's edges
};

/// The folder of test data, or nothing where it is not there.
inline std::optional<std::filesystem::path> test_data() {
  const char* stated = std::getenv("DAG_TEST_DATA");
  std::filesystem::path folder = stated != nullptr ? stated : "../shared";
  if (!std::filesystem::is_directory(folder / "dags" / "public")) return std::nullopt;
  return folder;
}

/// N tasks edges | T id duration_us cores mem_bytes label | E src dst bytes | # comment
inline DagFile read_dag_file(const std::filesystem::path& path) {
  static const char code_place = 0;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  detail::Builder builder;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> bytes;  // by successor, in the order of adding
  std::size_t tasks = 0;
  std::size_t edges = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "N") {
      words >> tasks >> edges;
    } else if (kind == "T") {
      std::uint64_t id = 0;
      std::int64_t duration_us = 0;
      std::string cores;
      std::string memory;
      std::string label;
      words >> id >> duration_us >> cores >> memory >> label;
      const auto task =
          builder.add_task(label.substr(0, label.find('.')), {&code_place, nullptr}, true, Effects::pure);
      if (task != id) throw std::runtime_error(path.string() + ": tasks are not numbered in order");
      builder.change_policy(task,
                            [&](Policy& policy) { policy.takes = std::chrono::microseconds(duration_us); });
    } else if (kind == "E") {
      std::uint32_t from = 0;
      std::uint32_t to = 0;
      std::uint64_t size_bytes = 0;
      words >> from >> to >> size_bytes;
      builder.add_edge(from, to, detail::EdgeKind::strong);
      bytes.emplace_back(to, size_bytes);
    }
    if (words.fail()) throw std::runtime_error(path.string() + ": cannot read: " + line);
  }
  DagFile result{path.stem().string(), builder.sealed(), {}};
  if (result.fragment.size() != tasks || result.fragment.edges.size() != edges) {
    throw std::runtime_error(path.string() + ": does not hold as much as it says");
  }
  std::stable_sort(bytes.begin(), bytes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [to, size_bytes] : bytes) result.edge_bytes.push_back(size_bytes);
  return result;
}

/// All graphs of the folder, by name; empty where it is not there.
inline std::vector<std::filesystem::path> dag_files() {
  std::vector<std::filesystem::path> files;
  if (const auto folder = test_data()) {
    for (const auto& entry : std::filesystem::directory_iterator(*folder / "dags" / "public")) {
      if (entry.path().extension() == ".dag") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace dag::test
