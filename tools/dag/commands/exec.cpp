// `dag exec [--array 1-100] -- CMD...`: a command as a task, once or once per number.

#include <charconv>
#include <filesystem>
#include <memory>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/cluster/process.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/commands/command_effects.hpp"
#include "tools/dag/commands/command_kernel.hpp"
#include "tools/dag/commands/command_output.hpp"
#include "tools/dag/commands/work.hpp"
#include "tools/dag/durations.hpp"
#include "tools/dag/words.hpp"

namespace dag::tool {
namespace {

constexpr std::size_t tasks_max = 1'000'000;

[[noreturn]] void bad_array(const std::string& text) {
  throw Failure({ErrorCode::usage, "--array cannot be '" + text + "'",
                 "give numbers and ranges, as 1-100 or 1,4,7-9; at most 1,000,000 of them"});
}

std::uint64_t number_in(std::string_view word, const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) bad_array(text);
  return number;
}

/// `1-3,7` as 1 2 3 7.
std::vector<std::uint64_t> numbers_of(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string_view part = std::string_view(text).substr(from, comma - from);
    const std::size_t dash = part.find('-');
    const std::uint64_t first = number_in(part.substr(0, dash), text);
    const std::uint64_t last = dash == part.npos ? first : number_in(part.substr(dash + 1), text);
    if (last < first || last - first >= tasks_max - numbers.size()) bad_array(text);
    for (std::uint64_t more = 0; more <= last - first; ++more) numbers.push_back(first + more);
    from = comma + 1;
  }
  return numbers;
}

struct ExecWanted {
  std::string array;
  std::uint32_t attempts = 1;
  std::string effects = "idempotent";
  std::optional<double> timeout_seconds;
  double cpus = 1;
  std::string directory;
  WorkOptions work;
  std::vector<std::string> words;
};

int exec(const ExecWanted& wanted) {
  Graph graph("exec");
  std::vector<WorkTask> tasks;
  const WorkPlace place = place_of_work(wanted.work);
  const auto add = [&](const std::string& id, const std::string& label,
                       std::vector<std::string> environment) {
    const auto number = static_cast<std::uint32_t>(tasks.size());
    const CommandLine command =
        placed({number, wanted.words, std::move(environment), wanted.directory, wanted.work.cluster->json},
               file_label(label, number), place, wanted.work);
    const auto task = graph.task(id, run_command, command).effects(effects_of_commands().at(wanted.effects));
    task.retry({.attempts = wanted.attempts}).needs({.cpus = wanted.cpus});
    if (wanted.timeout_seconds)
      task.timeout(std::chrono::nanoseconds(static_cast<std::int64_t>(*wanted.timeout_seconds * 1e9)));
    tasks.push_back({id, task, command.files});
  };
  if (wanted.array.empty()) {
    const std::string& program = wanted.words.front();
    add(program, std::filesystem::path(program).filename().string(), {});
  } else {
    for (const std::uint64_t number : numbers_of(wanted.array)) {
      add(std::to_string(number), std::to_string(number), {"DAG_TASK_ID=" + std::to_string(number)});
    }
  }
  return run_work(graph, tasks, place, wanted.work);
}

}  // namespace

void add_exec(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("exec", "run a command as a task, once or once per number");
  const auto wanted = std::make_shared<ExecWanted>();
  command->add_option(
      "--array", wanted->array,
      "one task per number, such as 1-100 or 1,4,7-9; its command finds the number in DAG_TASK_ID");
  command
      ->add_option("--attempts", wanted->attempts,
                   "number of attempts, the first one included, while the command fails")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  takes_duration(command->add_option("--timeout", wanted->timeout_seconds,
                                     "time limit of one attempt, such as 30s or 5m"));
  command
      ->add_option(
          "--effects", wanted->effects,
          "effects of a second run: pure, idempotent, exclusive or at_most_once; attempts of one command "
          "never overlap unless it is pure")
      ->capture_default_str()
      ->check(CLI::IsMember(effects_of_commands()));
  command->add_option("--cpus", wanted->cpus, "cores per command")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1024.0));
  command->add_option("--directory", wanted->directory, "working directory (default: the current one)");
  add_work_options(*command, wanted->work);
  takes_words_as_they_are(
      command->add_option("command", wanted->words, "the command and its arguments, after --")->required());
  command->positionals_at_end();
  command->footer(
      "Commands run in the cluster that --address, DAG_ADDRESS or the address file of this user names, with\n"
      "the environment, limits and directory of `dag exec`. Without a cluster, or with --local, they run in\n"
      "this process. The output of each command is printed when the command has ended; with --json the "
      "output\n"
      "goes to stderr, and the result of each task to stdout.\n"
      "Exit status: 0 all finished, 1 a command failed, 130 interrupted.");
  command->callback([=, &chosen] { chosen = [=] { return exec(*wanted); }; });
}

}  // namespace dag::tool
