#include "nodes/checking_client.hpp"

#include <errno.h>

#include <iostream>
#include <numeric>

#include "libdag/client/compared_runs.hpp"
#include "libdag/client/printed_log.hpp"

namespace dag {
namespace {

/// The same graph; all outputs stay until they were compared.
std::shared_ptr<const detail::Fragment> with_all_kept(const detail::Fragment& graph) {
  auto kept = std::make_shared<detail::Fragment>(graph);
  for (Policy& policy : kept->policies) policy.keep = true;
  return kept;
}

std::vector<detail::Settlement> endings(detail::JobState& job) {
  std::vector<std::uint32_t> tasks(job.graph->size());
  std::iota(tasks.begin(), tasks.end(), 0);
  job.want(tasks);
  std::vector<detail::Settlement> all;
  for (const std::uint32_t task : tasks) all.push_back(*job.wait_for(task));
  return all;
}

std::vector<detail::Settlement> endings_at(detail::Client& client, const detail::JobState& job,
                                           const std::shared_ptr<const detail::Fragment>& graph) {
  auto run = std::make_shared<detail::JobState>();
  run->client = &client;
  run->name = job.name;
  run->graph = graph;
  if (Status started = client.submit(graph, run); !started) throw Failure(started.error());
  return endings(*run);
}

}  // namespace

CheckingClient::CheckingClient(const NodeOptions& options)
    : here_(options, std::nullopt), elsewhere_(options, std::nullopt) {
  here_.on_event([this](const JobEvent& event) { hear(event); });
  elsewhere_.on_event([](const JobEvent&) {});
}

Status CheckingClient::submit(std::shared_ptr<const detail::Fragment> graph,
                              std::shared_ptr<detail::JobState> state) {
  const auto kept = with_all_kept(*graph);
  repeating_ = false;
  if (Status started = here_.submit(kept, state); !started) return started;
  const auto first = endings(*state);
  repeating_ = true;
  const auto again = endings_at(here_, *state, kept);
  const auto elsewhere = endings_at(elsewhere_, *state, kept);
  const detail::ComparedRuns compared = detail::compare_runs(*graph, first, again, elsewhere);
  if (auto why = detail::told_of(compared, *graph, first, elsewhere)) return *std::move(why);
  std::cerr << program_invocation_short_name << ": --dag-check: " << detail::summary(compared) << std::endl;
  return Done{};
}

void CheckingClient::on_event(std::function<void(const JobEvent&)> handler) {
  const std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
}

void CheckingClient::hear(const JobEvent& event) {
  if (repeating_) return;
  const std::lock_guard lock(mutex_);
  handler_ ? handler_(event) : detail::print_log(event);
}

}  // namespace dag
