#include "nodes/node_web.hpp"

#include "nodes/web/metrics_text.hpp"

namespace dag {
namespace {

constexpr const char* pages =
    "there is\n"
    "  /         the cluster, for a browser\n"
    "  /metrics  numbers for Prometheus\n"
    "  /healthz  200 as long as the node answers\n"
    "  /readyz   200 if clients may be sent here, or else 503, and why not\n"
    "  /api/cluster, /api/jobs, /api/jobs/JOB[/explain|/graph|/timeline|/report|/history], /api/history, "
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

}  // namespace

Status NodeWeb::open(web::HttpOptions options, const inspector::InspectorOptions& inspected) {
  options.answer_within = inspector::Inspector::answers_within;
  inspector_ = std::make_unique<inspector::Inspector>(inspected);
  auto server = web::HttpServer::open(
      std::move(options),
      [this](const web::HttpRequest& request, const web::HttpReply& reply) { serve(request, reply); });
  if (!server) return server.error();
  server_ = std::move(server).value();
  return Done{};
}

void NodeWeb::close() {
  inspector_->end();
  server_.reset();
  inspector_.reset();
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

void NodeWeb::ask(const std::function<ClientMessage(std::uint64_t)>& what, const web::HttpReply& reply,
                  std::function<void(client::Answer)> then) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (asked_.size() >= questions_max) return reply(plain(503, "this node does not answer\n"));
    number = ++last_number_;
    asked_.emplace(number, std::move(then));
  }
  ports_.ask(what(number));
}

void NodeWeb::serve(const web::HttpRequest& request, const web::HttpReply& reply) {
  const auto ask_nodes = [](std::uint64_t number) { return ClientMessage(client::AskNodes{number}); };
  if (request.path == "/healthz") {
    ask(ask_nodes, reply, [reply](const client::Answer&) { reply(plain(200, "ok\n")); });
  } else if (request.path == "/readyz") {
    ask(ask_nodes, reply, [reply](const client::Answer& answer) { reply(readiness(answer)); });
  } else if (request.path == "/metrics") {
    const auto measures = std::make_shared<NodeMeasures>(ports_.measures());
    ask(ask_nodes, reply, [this, reply, measures](const client::Answer& about_nodes) {
      const auto ask_jobs = [](std::uint64_t number) { return ClientMessage(client::AskJobs{number, {}}); };
      ask(ask_jobs, reply, [reply, measures, nodes = about_nodes.nodes](const client::Answer& about_jobs) {
        reply({200, std::string(web::metrics_type), {}, [measures, nodes, jobs = about_jobs.jobs] {
                 return metrics_of(*measures, nodes, jobs);
               }});
      });
    });
  } else if (!inspector_->serve(request, reply)) {
    reply(plain(404, "there is no " + request.path + " here; " + pages));
  }
}

}  // namespace dag
