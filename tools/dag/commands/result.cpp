// `dag result`: a job's results, for any user of the cluster.

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <map>

#include "libdag/client/checked_output.hpp"
#include "libdag/client/client.hpp"
#include "libdag/client/exit_status.hpp"
#include "libdag/client/job_state.hpp"
#include "libdag/client/node.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/durations.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/views/print.hpp"

namespace dag::tool {
namespace {

struct ResultOptions {
  SharedOptions cluster;
  std::string what, file;
  double within = 0;  ///< seconds; 0: without a limit
};

struct Result {
  std::uint32_t task = 0;
  std::string name;
  detail::Settlement settlement;
};

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

/// The first bytes, for people: bytes tell nothing of their type.
std::string preview(const Blob& output) {
  constexpr std::size_t bytes_max = 16;
  const auto bytes = output.bytes();
  return hex(bytes.first(std::min(bytes.size(), bytes_max))) + (bytes.size() > bytes_max ? ".." : "");
}

nlohmann::json result_json(const Result& result) {
  nlohmann::json json{
      {"task", result.task}, {"name", result.name}, {"outcome", name(result.settlement.outcome)}};
  if (result.settlement.error) {
    json["error"] = result.settlement.error->message();
  } else {
    json["bytes"] = result.settlement.output.size_bytes();
    json["hex"] = hex(result.settlement.output.bytes());
  }
  return json;
}

void write_to(const std::string& file, const Result& result) {
  const detail::Settlement& settlement = result.settlement;
  if (settlement.error) throw Failure(*settlement.error);
  if (settlement.outcome != Outcome::finished) {
    throw Failure({ErrorCode::task_cancelled,
                   "task '" + result.name + "' was " + std::string(name(settlement.outcome))});
  }
  const auto bytes = settlement.output.bytes();
  const auto put = [&](std::ostream& to) {
    to.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())).flush();
  };
  if (file == "-") return put(std::cout);
  std::ofstream to(file, std::ios::binary | std::ios::trunc);
  put(to);
  if (!to) throw Failure(not_written(shown(file), errno));
}

void print(const std::vector<Result>& results) {
  std::vector<std::vector<std::string>> rows;
  for (const Result& one : results) {
    const detail::Settlement& settlement = one.settlement;
    const bool there = !settlement.error && settlement.outcome == Outcome::finished;
    rows.push_back({std::to_string(one.task), shown(one.name), std::string(name(settlement.outcome)),
                    there ? bytes_text(settlement.output.size_bytes()) : "",
                    there              ? preview(settlement.output)
                    : settlement.error ? shown(settlement.error->what)
                                       : ""});
  }
  std::cout << table({"TASK", "NAME", "OUTCOME", "SIZE", "BYTES"}, rows);
}

/// By name, or by number.
std::map<std::uint32_t, std::string> outputs_named(detail::Client& client, JobId job,
                                                   const std::string& task) {
  auto outputs = client.outputs(job, task);
  if (!outputs.empty() || task.empty()) return outputs;
  const bool number = task.find_first_not_of("0123456789") == std::string::npos && task.size() < 10;
  if (!number)
    throw Failure({ErrorCode::job_unknown, to_string(job) + " has no task '" + shown(task) + "'",
                   "`dag result " + to_string(job) + "` lists its results"});
  return {{static_cast<std::uint32_t>(std::stoul(task)), task}};
}

int result(const ResultOptions& options) {
  const auto [job, task] = job_and_task_of(options.what, *options.cluster);
  NodeOptions there;
  there.address = address_of(*options.cluster);
  const std::unique_ptr<detail::Client> client = start_node(there);
  const auto state = std::make_shared<detail::JobState>();
  state->id = job;
  state->client = client.get();
  client->attach(job, state);
  const auto outputs = outputs_named(*client, job, task);
  if (!options.file.empty() && outputs.size() != 1) {
    throw Failure({ErrorCode::usage,
                   options.what + " has " + counted(outputs.size(), "result") + ", and -o takes one",
                   "name it: " + to_string(job) + "/TASK"});
  }
  const Duration limit =
      options.within == 0
          ? Duration::max()
          : std::chrono::duration_cast<Duration>(std::chrono::duration<double>(options.within));
  std::vector<Result> results;
  for (const auto& [number, its_name] : outputs) {
    auto settlement = state->wait_for(number, limit);
    if (!settlement) {
      throw Failure({ErrorCode::timed_out, "task '" + its_name + "' of " + to_string(job) + " has not ended",
                     "`dag explain " + to_string(job) + "` says what it waits for"});
    }
    results.push_back({number, its_name, *std::move(settlement)});
  }
  if (!options.file.empty()) {
    write_to(options.file, results.front());
  } else if (options.cluster->json) {
    auto all = nlohmann::json::array();
    for (const Result& one : results) all.push_back(result_json(one));
    std::cout << json_line({{"job", to_string(job)}, {"results", std::move(all)}});
  } else if (results.empty()) {
    std::cerr << "dag: " << to_string(job)
              << " has no results: other tasks read the outputs of all its tasks\n";
  } else {
    print(results);
  }
  const bool all_there = std::all_of(results.begin(), results.end(), [](const Result& one) {
    return one.settlement.outcome == Outcome::finished && !one.settlement.error;
  });
  return all_there ? exit_ok : exit_work_failed;
}

}  // namespace

void add_result(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("result", "print the results of a job, whoever submitted it");
  const auto options = std::make_shared<ResultOptions>();
  options->cluster = add_options(*command);
  command
      ->add_option(
          "what", options->what,
          "job7: the outputs that no other task reads; or job7/TASK: the output of a task, by name or number")
      ->required();
  command->add_option("-o,--output", options->file, "a file for the bytes of a single result; -: stdout");
  takes_duration(command->add_option("--timeout", options->within, "how long to wait, such as 30s or 5m"));
  command->footer(
      "Waits until the tasks have ended. The bytes are those of dag::encode. A program reads them by\n"
      "dag::decode<T>, or by Session::attach and Job::get<T>(\"TASK\"). Results of a job of `dag submit` are "
      "kept\n"
      "for an hour after its end.\n"
      "Exit status: 0 all results are there, 1 a task did not finish, or its output was released.");
  command->callback([=, &chosen] { chosen = [=] { return result(*options); }; });
}

}  // namespace dag::tool
