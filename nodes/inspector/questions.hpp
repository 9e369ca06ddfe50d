#pragma once
// Questions about one job in depth: why its tasks wait, what its lanes did, where its time went, its events.
// Questions read the journals of all nodes, which takes a while: one question after the other, on a thread of
// its own.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "libdag/client/cluster.hpp"
#include "libdag/client/followed_log.hpp"
#include "libdag/client/gathered_journals.hpp"
#include "nodes/http/http_server.hpp"

namespace dag::inspector {

/// {"error": ...}, with a status that tells the client's faults from the node's.
web::HttpAnswer refusal(const Error& error);
web::HttpAnswer json_answer(std::string line);
/// A text of the query; empty: it is not there.
std::string text_in(const web::HttpRequest& request, const std::string& name);
/// A number of the query. Throws Failure(usage) when it is no number, or not between `least` and `most`.
double number_in(const web::HttpRequest& request, const std::string& name, double otherwise, double least,
                 double most);

class Questions {
 public:
  /// Limit of waiting questions: a further one is told to come back later.
  static constexpr std::size_t waiting_max = 32;

  Questions(std::string address, std::function<void()> on_thread);
  ~Questions() { end(); }
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;
  /// Stops answering.
  void end();

  /// The pages below /api/jobs/JOB/, and /api/history (no job). False: there is no such page.
  bool ask(std::optional<JobId> job, const std::string& page, const web::HttpRequest& request,
           const web::HttpReply& reply);

 private:
  using Make = std::string (Questions::*)(JobId, const web::HttpRequest&);
  struct Question {
    std::function<std::string()> make;
    web::HttpReply reply;
  };

  void run();
  void answer(const Question& question);
  // On the thread; each gives JSON, or throws Failure.
  std::string explain(JobId job, const web::HttpRequest& request);
  std::string timeline(JobId job, const web::HttpRequest& request);
  std::string graph(JobId job, const web::HttpRequest& request);
  std::string report(JobId job, const web::HttpRequest& request);
  std::string history(JobId job, const web::HttpRequest& request);
  std::string logs(JobId job, const web::HttpRequest& request);
  std::string past_jobs();
  /// Reuses the last gathered journals of the same job: a browser asks for page after page.
  const detail::GatheredJournals& journals(std::optional<JobId> job, const TaskSelector& which = {});

  const std::string address_;
  const std::function<void()> on_thread_;
  struct Gathered {
    std::optional<JobId> job;
    TaskSelector which;  ///< of whose tasks all records are there
    Instant at;
    detail::GatheredJournals journals;
  };
  std::unique_ptr<Gathered> gathered_;  ///< the thread's
  struct Followed {
    JobId job;
    std::string task;
    detail::FollowedLog log;
    std::deque<detail::LogLine> newest;
    std::deque<std::string> gaps;
    std::uint64_t older = 0;  ///< that are not among them
  };
  std::unique_ptr<Followed> followed_;  ///< likewise
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Question> waiting_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace dag::inspector
