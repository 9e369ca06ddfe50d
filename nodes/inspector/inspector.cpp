#include "nodes/inspector/inspector.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libdag/client/json.hpp"
#include "nodes/inspector/pages.hpp"
#include "nodes/process/parts.hpp"

namespace dag::inspector {
namespace {

constexpr std::string_view jobs_path = "/api/jobs/";
/// A browser that hears nothing for longer takes what it shows for old.
constexpr Duration repeat_after = std::chrono::seconds(2);

/// Formats a server-sent event: a line of JSON has no end of line in it.
std::string event(const char* name, const std::string& line) {
  return "event: " + std::string(name) + "\ndata: " + line + "\n\n";
}

/// The events that one watching browser was sent.
class Watcher {
 public:
  explicit Watcher(std::optional<JobId> job) : job_(job) {}

  /// Nothing, as long as nothing has changed and it was told not long ago.
  std::string told(const Look& look, Instant now) {
    if (told_at_ && look.cluster == cluster_ && (!job_ || look.jobs.at(*job_) == of_job_) &&
        now - *told_at_ < repeat_after)
      return {};
    told_at_ = now;
    cluster_ = look.cluster;
    std::string text = event("cluster", look.cluster);
    if (!job_) return text;
    of_job_ = look.jobs.at(*job_);
    return text + event("job", of_job_);
  }

 private:
  const std::optional<JobId> job_;
  std::optional<Instant> told_at_;
  std::string cluster_, of_job_;
};

/// Throws Failure(usage).
JobId job_of(const std::string& text) {
  if (const auto job = parse_job_id(text)) return *job;
  throw Failure({ErrorCode::usage, "'" + text + "' is not a job", "write job7, or job2.7"});
}

/// The requested part of a list.
struct PageOf {
  std::size_t offset = 0, limit = 0;
};
PageOf page_in(const web::HttpRequest& request) {
  return {static_cast<std::size_t>(number_in(request, "offset", 0, 0, 1e12)),
          static_cast<std::size_t>(number_in(request, "limit", 100, 1, 1000))};
}

std::string nodes_page(const detail::Seen& seen, const web::HttpRequest& request) {
  const auto [offset, limit] = page_in(request);
  auto rows = nlohmann::json::array();
  for (std::size_t at = offset; at < seen.nodes.size() && rows.size() < limit; ++at)
    rows.push_back(detail::to_json(seen.nodes[at]));
  return detail::json_line(
      {{"nodes", std::move(rows)}, {"total", seen.nodes.size()}, {"missing", seen.missing}});
}

std::string jobs_page(const detail::Seen& seen, const web::HttpRequest& request) {
  const auto [offset, limit] = page_in(request);
  const std::string phase = text_in(request, "phase"), part = text_in(request, "name");
  auto rows = nlohmann::json::array();
  std::size_t total = 0;
  for (const JobInfo* job : in_order(seen.jobs)) {
    if (!phase.empty() && name(job->phase) != phase) continue;
    if (!part.empty() && job->name.find(part) == std::string::npos && to_string(job->job) != part) continue;
    if (total++ < offset || rows.size() == limit) continue;
    rows.push_back(detail::row_json(*job, seen.leaders.at(job->job)));
  }
  return detail::json_line({{"jobs", std::move(rows)}, {"total", total}, {"missing", seen.missing}});
}

}  // namespace

Inspector::Inspector(const InspectorOptions& options)
    : looks_(options.address, options.node, options.on_thread),
      questions_(options.address, options.on_thread) {}

void Inspector::end() {
  looks_.end();
  questions_.end();
}

Duration Inspector::answers_within(const web::HttpRequest& request) {
  const bool reads_journals = request.path.starts_with(jobs_path) || request.path == "/api/history";
  return reads_journals ? std::chrono::minutes(1) : std::chrono::seconds(5);
}

bool Inspector::serve(const web::HttpRequest& request, const web::HttpReply& reply) {
  try {
    if (const auto page = page_of(request.path)) {
      reply(*page);
    } else if (request.path == "/events") {
      serve_events(request, reply);
    } else if (request.path == "/api/cluster") {
      looks_.ask(std::nullopt, [reply](const LookPointer& look) {
        reply(look->failed ? refusal(*look->failed) : json_answer(look->cluster + "\n"));
      });
    } else if (request.path == "/api/nodes") {
      serve_list(nodes_page, request, reply);
    } else if (request.path == "/api/jobs") {
      serve_list(jobs_page, request, reply);
    } else if (request.path == "/api/history") {
      questions_.ask(std::nullopt, {}, request, reply);
    } else if (request.path.starts_with(jobs_path)) {
      return serve_job(request.path.substr(jobs_path.size()), request, reply);
    } else {
      return false;
    }
  } catch (const Failure& failure) {
    reply(refusal(failure.error()));
  }
  return true;
}

void Inspector::serve_list(ListPage* page, const web::HttpRequest& request, const web::HttpReply& reply) {
  looks_.ask(std::nullopt, [page, request, reply](const LookPointer& look) {
    if (look->failed) return reply(refusal(*look->failed));
    try {
      reply(json_answer(page(look->seen, request)));
    } catch (const Failure& failure) {
      reply(refusal(failure.error()));
    }
  });
}

bool Inspector::serve_job(const std::string& path, const web::HttpRequest& request,
                          const web::HttpReply& reply) {
  const auto slash = path.find('/');
  const JobId job = job_of(path.substr(0, slash));
  if (slash != std::string::npos) return questions_.ask(job, path.substr(slash + 1), request, reply);
  looks_.ask(job, [job, reply](const LookPointer& look) {
    if (look->failed) return reply(refusal(*look->failed));
    const auto why = look->refused.find(job);
    reply(why == look->refused.end() ? json_answer(detail::json_line(detail::to_json(look->known.at(job))))
                                     : refusal(why->second));
  });
  return true;
}

void Inspector::serve_events(const web::HttpRequest& request, const web::HttpReply& reply) {
  const std::string of = text_in(request, "job");
  const std::optional<JobId> job = of.empty() ? std::nullopt : std::optional(job_of(of));
  web::HttpAnswer stream{200, "text/event-stream", {}};
  stream.next = [this, job, watcher = std::make_shared<Watcher>(job)](const web::HttpReply& piece) {
    looks_.ask(job, [piece, watcher](const LookPointer& look) {
      // The browser comes again, by and by.
      if (look->failed) return piece({503, {}, {}});
      piece({200, {}, watcher->told(*look, steady_now())});
    });
  };
  reply(std::move(stream));
}

}  // namespace dag::inspector
