#pragma once
// The HTTP answers of a node of a shared cluster: `/metrics`, `/healthz`, `/readyz` about itself. The
// inspector answers the rest, about the cluster. It asks the node as any client does, so its answers are
// those that clients would get.

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "libdag/keeper/messages.hpp"
#include "nodes/http/http_server.hpp"
#include "nodes/inspector/inspector.hpp"
#include "nodes/inspector/utilisation.hpp"
#include "nodes/keeper/node_metrics.hpp"

namespace dag {

struct WebPorts {
  /// Answered by NodeWeb::answered, later, on any thread; must not block, like the next.
  std::function<void(ClientMessage question)> ask;
  std::function<NodeMeasures()> measures;
};

class NodeWeb {
 public:
  explicit NodeWeb(WebPorts ports) : ports_(std::move(ports)) {}
  ~NodeWeb() { close(); }
  /// As HttpServer::open. Before this call it asks nothing.
  Status open(web::HttpOptions options, const inspector::InspectorOptions& inspected);
  /// Stops answering. Call it while the node still answers: so no request waits in vain.
  void close();
  const net::Address& address() const { return server_->address(); }
  void answered(client::Answer answer);

  /// Limit of unanswered questions: a further request is told that the node is busy.
  static constexpr std::size_t questions_max = 1000;

 private:
  void sample();
  void serve(const web::HttpRequest& request, const web::HttpReply& reply);
  void serve_metrics(const web::HttpReply& reply);
  /// `what` gets the number of the question. False: too many wait for an answer.
  bool ask_node(const std::function<ClientMessage(std::uint64_t)>& what,
                std::function<void(client::Answer)> then);
  /// The same; if too many wait, `reply` gets the refusal.
  void ask(const std::function<ClientMessage(std::uint64_t)>& what, const web::HttpReply& reply,
           std::function<void(client::Answer)> then);

  const WebPorts ports_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::function<void(client::Answer)>> asked_;
  /// The last answers of processes of running jobs. For each a process has to look at all its rows, so they
  /// are asked again only when that takes a small part of the time.
  std::map<JobId, NodeMeasures::Job> of_jobs_;
  Instant jobs_again_at_;
  std::uint64_t last_number_ = 0;
  inspector::Utilisation utilisation_;
  bool ends_ = false;
  std::condition_variable ending_;
  std::unique_ptr<inspector::Inspector> inspector_;
  std::unique_ptr<web::HttpServer> server_;  ///< its thread uses those above, as the next one does
  std::thread sampling_;
};

}  // namespace dag
