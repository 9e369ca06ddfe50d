#include "nodes/keeper/node_web.hpp"

#include <pthread.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "libdag/client/explain.hpp"
#include "nodes/http/metrics_text.hpp"
#include "nodes/process/parts.hpp"

namespace dag {
namespace {

constexpr const char* pages =
    "there is\n"
    "  /         the cluster, for a browser\n"
    "  /metrics  numbers for Prometheus\n"
    "  /healthz  200 as long as the node answers\n"
    "  /readyz   200 if this node is ready for clients, else 503 and the reasons\n"
    "  /api/cluster, /api/utilisation, /api/nodes, /api/jobs, "
    "/api/jobs/JOB[/explain|/graph|/timeline|/report|/history|/logs], "
    "/api/history, "
    "/events\n";

web::HttpAnswer plain(unsigned status, std::string body) {
  return {status, web::HttpAnswer{}.type, std::move(body)};
}

web::HttpAnswer readiness(const client::Answer& answer) {
  if (answer.nodes.empty()) return plain(503, "this node does not know itself yet\n");
  std::string reasons;
  for (const std::string& why : answer.nodes.front().not_ready) reasons += why + "\n";
  return reasons.empty() ? plain(200, "ready\n") : plain(503, std::move(reasons));
}

/// For this many jobs the processes are asked for each page of metrics.
constexpr std::size_t measured_jobs_max = 64;
constexpr Duration jobs_asked_every = std::chrono::seconds(1);
/// Where that takes long, so many times as long goes by before the next time.
constexpr int jobs_asking_part = 50;

NodeMeasures::Job measures_of_job(const client::Answer& answer) {
  NodeMeasures::Job job;
  for (const ProcessExplained& process : answer.explained) {
    for (const HeldOutputs& held : process.held) job.output_bytes += held.bytes;
  }
  job.critical_path = detail::critical_path_in(answer);
  return job;
}

}  // namespace

Status NodeWeb::open(web::HttpOptions options, const inspector::InspectorOptions& inspected) {
  options.answer_within = inspector::Inspector::answers_within;
  inspector_ = std::make_unique<inspector::Inspector>(inspected);
  auto server = web::HttpServer::open(
      std::move(options),
      [this](const web::HttpRequest& request, const web::HttpReply& reply) { serve(request, reply); });
  if (!server) return server.error();
  server_ = std::move(server).value();
  sampling_ = std::thread([this, on_thread = inspected.on_thread] {
    pthread_setname_np(pthread_self(), "dag-samples");
    on_thread();
    sample();
  });
  return Done{};
}

void NodeWeb::close() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ending_.notify_all();
  if (sampling_.joinable()) sampling_.join();
  if (inspector_) inspector_->end();
  server_.reset();
  inspector_.reset();
}

/// Samples also while nobody looks: a later viewer wants to see the past.
void NodeWeb::sample() {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, inspector::Utilisation::every, [this] { return ends_; })) {
    lock.unlock();
    ask_node([](std::uint64_t number) { return ClientMessage(client::AskNodes{number}); },
             [this](const client::Answer& answer) {
               utilisation_.add(std::time(nullptr), steady_now(), answer.nodes);
             });
    lock.lock();
  }
}

void NodeWeb::answered(client::Answer answer) {
  std::function<void(client::Answer)> then;
  {
    const std::lock_guard lock(mutex_);
    const auto asked = asked_.find(answer.number);
    if (asked == asked_.end()) return;
    then = std::move(asked->second);
    asked_.erase(asked);
  }
  then(std::move(answer));
}

bool NodeWeb::ask_node(const std::function<ClientMessage(std::uint64_t)>& what,
                       std::function<void(client::Answer)> then) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (asked_.size() >= questions_max) return false;
    number = ++last_number_;
    asked_.emplace(number, std::move(then));
  }
  ports_.ask(what(number));
  return true;
}

void NodeWeb::ask(const std::function<ClientMessage(std::uint64_t)>& what, const web::HttpReply& reply,
                  std::function<void(client::Answer)> then) {
  if (!ask_node(what, std::move(then))) reply(plain(503, "this node does not answer\n"));
}

/// The node is asked about nodes, then about jobs, then the processes of those that run, all at once: one
/// that hangs costs what the node waits for it, and its job is missing.
void NodeWeb::serve_metrics(const web::HttpReply& reply) {
  struct Gathered {
    NodeMeasures measures;
    std::vector<NodeInfo> nodes;
    std::vector<JobInfo> jobs;
    std::size_t open = 0;  ///< jobs that were asked about and have not answered
  };
  const auto gathered = std::make_shared<Gathered>();
  gathered->measures = ports_.measures();
  const auto over = [reply, gathered] {
    reply({200, std::string(web::metrics_type), {}, [gathered] {
             return metrics_of(gathered->measures, gathered->nodes, gathered->jobs);
           }});
  };
  const auto on_job = [this, gathered, over, began = steady_now()](
                          JobId job, const std::optional<NodeMeasures::Job>& measured) {
    {
      const std::lock_guard lock(mutex_);
      if (measured) gathered->measures.jobs[job] = *measured;
      if (--gathered->open > 0) return;
      of_jobs_ = gathered->measures.jobs;
      const Instant now = steady_now();
      jobs_again_at_ = now + std::max(jobs_asked_every, jobs_asking_part * (now - began));
    }
    over();
  };
  const auto on_jobs = [this, gathered, over, on_job](client::Answer answer) {
    gathered->jobs = std::move(answer.jobs);
    std::vector<JobId> running;
    for (const JobInfo& job : gathered->jobs) {
      if (job.phase == JobPhase::running && running.size() < measured_jobs_max) running.push_back(job.job);
    }
    {
      const std::lock_guard lock(mutex_);
      if (steady_now() < jobs_again_at_) {
        for (const JobId job : std::exchange(running, {})) {
          if (const auto known = of_jobs_.find(job); known != of_jobs_.end())
            gathered->measures.jobs.insert(*known);
        }
      }
      gathered->open = running.size();
    }
    if (running.empty()) return over();
    TaskSelector what = detail::selector_of_none();
    what.outputs = what.critical_path = true;
    for (const JobId job : running) {
      const auto question = [job, what](std::uint64_t number) {
        return ClientMessage(client::AskExplain{number, job, what});
      };
      const bool asked = ask_node(question, [job, on_job](const client::Answer& explained) {
        on_job(job, explained.error ? std::nullopt : std::optional(measures_of_job(explained)));
      });
      if (!asked) on_job(job, std::nullopt);
    }
  };
  ask([](std::uint64_t number) { return ClientMessage(client::AskNodes{number}); }, reply,
      [this, reply, gathered, on_jobs](client::Answer answer) {
        gathered->nodes = std::move(answer.nodes);
        ask([](std::uint64_t number) { return ClientMessage(client::AskJobs{number, {}}); }, reply, on_jobs);
      });
}

void NodeWeb::serve(const web::HttpRequest& request, const web::HttpReply& reply) {
  const auto ask_nodes = [](std::uint64_t number) { return ClientMessage(client::AskNodes{number}); };
  if (request.path == "/healthz") {
    ask(ask_nodes, reply, [reply](const client::Answer&) { reply(plain(200, "ok\n")); });
  } else if (request.path == "/readyz") {
    ask(ask_nodes, reply, [reply](const client::Answer& answer) { reply(readiness(answer)); });
  } else if (request.path == "/metrics") {
    serve_metrics(reply);
  } else if (request.path == "/api/utilisation") {
    reply(inspector::json_answer(utilisation_.json()));
  } else if (!inspector_->serve(request, reply)) {
    reply(plain(404, "there is no " + request.path + " here; " + pages));
  }
}

}  // namespace dag
