#pragma once
// What a node of a shared cluster answers by HTTP: `/metrics`, `/healthz`, `/readyz` about itself; the rest,
// about the cluster, is the inspector's. It asks the node as any client does, so that what it says is what
// clients would find.

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
  /// Answered by NodeWeb::answered, later, on whatever thread; must not block, like the next.
  std::function<void(ClientMessage question)> ask;
  std::function<NodeMeasures()> measures;
};

class NodeWeb {
 public:
  explicit NodeWeb(WebPorts ports) : ports_(std::move(ports)) {}
  ~NodeWeb() { close(); }
  /// As HttpServer::open. Until then it asks nothing.
  Status open(web::HttpOptions options, const inspector::InspectorOptions& inspected);
  /// Answers nobody any more. While the node still answers: so nothing is waited for in vain.
  void close();
  const net::Address& address() const { return server_->address(); }
  void answered(client::Answer answer);

  /// Questions that were not answered yet; who comes then is told that the node is busy.
  static constexpr std::size_t questions_max = 1000;

 private:
  void sample();
  void serve(const web::HttpRequest& request, const web::HttpReply& reply);
  void serve_metrics(const web::HttpReply& reply);
  /// `what` gets the number of the question. False: too many wait for an answer.
  bool ask_node(const std::function<ClientMessage(std::uint64_t)>& what,
                std::function<void(client::Answer)> then);
  /// The same; if it cannot, `reply` is told.
  void ask(const std::function<ClientMessage(std::uint64_t)>& what, const web::HttpReply& reply,
           std::function<void(client::Answer)> then);

  const WebPorts ports_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::function<void(client::Answer)>> asked_;
  /// What processes said last of jobs that run. Each of them has to look at all its rows for it, so they are
  /// asked again when that is a small part of the time.
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
