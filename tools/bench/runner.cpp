#include "tools/bench/runner.hpp"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/bench/child.hpp"

namespace dag::bench {
namespace {

std::string program_of(std::string_view runner) {
  return program_folder() + "/dag-bench-peer-" + std::string(runner);
}

bool executable(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

/// The last line that is an object: libraries print greetings of their own.
Answer read_answer(const std::string& output) {
  const auto begin = output.rfind("\n{");
  const nlohmann::json line =
      nlohmann::json::parse(begin == std::string::npos ? output : output.substr(begin + 1), nullptr, false);
  if (!line.is_object()) throw std::runtime_error("it did not answer with a line of JSON, but: " + output);
  Answer answer;
  for (const auto& [name, value] : line.items()) {
    if (value.is_number()) answer.numbers[name] = value.get<double>();
    if (value.is_string()) answer.words[name] = value.get<std::string>();
  }
  return answer;
}

}  // namespace

const std::vector<Runner>& all_runners() {
  static const std::vector<Runner> runners = {
      {libdag, "libdag itself"},       {floor_runner, "libdag itself"},
      {"tbb", "libtbb-dev"},           {"openmp", "g++"},
      {"starpu", "libstarpu-dev"},     {"mpi", "libopenmpi-dev"},
      {"dask", "python3-distributed"}, {"placer", "libdag itself"},
      {"log", "libdag itself"},
  };
  return runners;
}

std::string program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

bool is_built(std::string_view runner) { return executable(program_of(runner)); }

double Answer::number(const std::string& name) const {
  const auto found = numbers.find(name);
  if (found == numbers.end()) throw std::runtime_error("it did not say its '" + name + "'");
  return found->second;
}

Answer ask_program(std::vector<std::string> words, std::chrono::seconds limit) {
  const std::string beside = program_folder() + "/" + words[0];
  if (executable(beside)) words[0] = beside;
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
  const Ended ended = run_child(words, limit);
  if (ended.timed_out) {
    throw std::runtime_error(command + ": no answer in " + std::to_string(limit.count()) + " s");
  }
  if (ended.status != 0) {
    throw std::runtime_error(command + ": status " + std::to_string(ended.status) + "\n" + ended.messages);
  }
  try {
    return read_answer(ended.output);
  } catch (const std::exception& error) {
    throw std::runtime_error(command + ": " + error.what());
  }
}

Answer ask(std::string_view runner, const Ask& what) {
  std::vector<std::string> words = what.launcher;
  words.push_back(program_of(runner));
  words.push_back(what.workload);
  std::map<std::string, std::string> options = what.options;
  if (!what.launcher.empty()) options["processes"] = "2";
  for (const auto& [name, value] : options) {
    words.push_back("--" + name);
    words.push_back(value);
  }
  return ask_program(std::move(words), what.limit);
}

}  // namespace dag::bench
