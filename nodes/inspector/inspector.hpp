#pragma once
// The pages of the whole cluster for a browser: the web UI, /api/* and /events. Decides which part answers a
// request; it asks the node like any client, so nothing of this gets in the way of the node's work.

#include <string>

#include "nodes/inspector/looks.hpp"
#include "nodes/inspector/questions.hpp"

namespace dag::inspector {

struct InspectorOptions {
  std::string address;  ///< of the node that it belongs to, for clients
  std::string node;     ///< its name
  std::function<void()> on_thread = [] {};
};

class Inspector {
 public:
  explicit Inspector(const InspectorOptions& options);
  /// Stops all questions; a browser that waits for an answer gets none.
  void end();

  /// False: there is no such page.
  bool serve(const web::HttpRequest& request, const web::HttpReply& reply);
  /// The time limit for an answer.
  static Duration answers_within(const web::HttpRequest& request);

 private:
  bool serve_job(const std::string& path, const web::HttpRequest& request, const web::HttpReply& reply);
  /// Builds the page for a request out of a look at the cluster. Throws Failure(usage).
  using ListPage = std::string(const detail::Seen& seen, const web::HttpRequest& request);
  void serve_list(ListPage* page, const web::HttpRequest& request, const web::HttpReply& reply);
  void serve_events(const web::HttpRequest& request, const web::HttpReply& reply);

  Looks looks_;
  Questions questions_;
};

}  // namespace dag::inspector
