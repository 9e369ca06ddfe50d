#pragma once
// What a browser asks of the whole cluster: the pages of the web UI, /api/* and /events. Decides who answers
// what; the node is asked like any other, so nothing of this is in the way of what it does.

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
  /// Asks nobody any more; who waits for an answer gets none.
  void end();

  /// False: it has no such page.
  bool serve(const web::HttpRequest& request, const web::HttpReply& reply);
  /// How long an answer may take.
  static Duration answers_within(const web::HttpRequest& request);

 private:
  bool serve_job(const std::string& path, const web::HttpRequest& request, const web::HttpReply& reply);
  /// Of all that was seen, what a request asks for. Throws Failure(usage).
  using ListPage = std::string(const detail::Seen& seen, const web::HttpRequest& request);
  void serve_list(ListPage* page, const web::HttpRequest& request, const web::HttpReply& reply);
  void serve_events(const web::HttpRequest& request, const web::HttpReply& reply);

  Looks looks_;
  Questions questions_;
};

}  // namespace dag::inspector
