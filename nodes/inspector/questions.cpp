#include "nodes/inspector/questions.hpp"

#include <pthread.h>

#include <charconv>
#include <deque>
#include <nlohmann/json.hpp>

#include "libdag/client/json.hpp"
#include "libdag/graph/text.hpp"
#include "nodes/process/parts.hpp"

namespace dag::inspector {
namespace {

constexpr Duration answers_within = std::chrono::seconds(5);
/// Gathered journals are used for this time.
constexpr Duration fresh = std::chrono::seconds(2);
/// And kept for this time while nobody asks.
constexpr Duration idle = std::chrono::seconds(10);
/// Limit for the journals of all nodes together. A job of a million tasks has 32 MiB, and its report takes
/// 1.5 GiB of memory for half a minute: such a report should be made on another machine.
constexpr std::uint64_t gathered_bytes_max = std::uint64_t{24} << 20;
/// Lines in one answer.
constexpr std::size_t lines_max = 1000;
/// Limits for a log page: pages that a node gives at once, and gaps that are listed.
constexpr std::size_t log_pages_max = 16;
constexpr std::size_t log_gaps_max = 20;

Duration seconds(double value) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value));
}

nlohmann::json array_of(const std::vector<std::string>& notices) {
  auto all = nlohmann::json::array();
  for (const std::string& notice : notices) all.push_back(printable(notice));
  return all;
}

std::vector<std::string> both(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

web::HttpAnswer json_answer(std::string line) { return {200, "application/json", std::move(line)}; }

web::HttpAnswer refusal(const Error& error) {
  const bool unknown = error.code == ErrorCode::job_unknown, wrong = error.code == ErrorCode::usage;
  return {unknown ? 404U
          : wrong ? 400U
                  : 503U,
          "application/json", detail::json_line({{"error", detail::to_json(error)}})};
}

std::string text_in(const web::HttpRequest& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? std::string() : found->second;
}

double number_in(const web::HttpRequest& request, const std::string& name, double otherwise, double least,
                 double most) {
  const std::string text = text_in(request, name);
  if (text.empty()) return otherwise;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
    return value;
  const auto shown = [](double number) { return nlohmann::json(number).dump(); };
  throw Failure({ErrorCode::usage, "'" + printable(text) + "' is no " + name,
                 "write a number from " + shown(least) + " to " + shown(most)});
}

Questions::Questions(std::string address, std::function<void()> on_thread)
    : address_(std::move(address)), on_thread_(std::move(on_thread)), thread_([this] { run(); }) {}

void Questions::end() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Questions::ask(std::optional<JobId> job, const std::string& page, const web::HttpRequest& request,
                    const web::HttpReply& reply) {
  static const std::map<std::string, Make> pages{
      {"explain", &Questions::explain}, {"timeline", &Questions::timeline}, {"graph", &Questions::graph},
      {"report", &Questions::report},   {"history", &Questions::history},   {"logs", &Questions::logs}};
  std::function<std::string()> make = [this] { return past_jobs(); };
  if (job) {
    const auto found = pages.find(page);
    if (found == pages.end()) return false;
    make = [this, what = found->second, id = *job, request] { return (this->*what)(id, request); };
  }
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < waiting_max) {
      waiting_.push_back({std::move(make), reply});
      make = nullptr;
    }
  }
  if (make)
    reply(refusal(
        {ErrorCode::peer_unreachable, "too many questions wait for this node", "ask again in a moment"}));
  changed_.notify_all();
  return true;
}

void Questions::run() {
  pthread_setname_np(pthread_self(), "dag-questions");
  on_thread_();
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto is_wanted = [this] { return ends_ || !waiting_.empty(); };
    if (!changed_.wait_for(lock, idle, is_wanted)) {
      gathered_.reset();
      followed_.reset();
      changed_.wait(lock, is_wanted);
    }
    if (ends_) return;
    const Question next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    answer(next);
    lock.lock();
  }
}

void Questions::answer(const Question& question) {
  web::HttpAnswer answer;
  try {
    answer = json_answer(question.make());
  } catch (const Failure& failure) {
    answer = refusal(failure.error());
  } catch (const std::exception& problem) {  // No memory, say: the node has other things to do.
    gathered_.reset();
    followed_.reset();
    answer = refusal({ErrorCode::internal, "this node cannot answer that", {}, problem.what()});
  }
  question.reply(std::move(answer));
}

const detail::GatheredJournals& Questions::journals(std::optional<JobId> job, const TaskSelector& which) {
  const Instant now = steady_now();
  const bool has_it = gathered_ && gathered_->job == job && now - gathered_->at <= fresh &&
                      (gathered_->which == TaskSelector{} || gathered_->which == which);
  if (!has_it) {
    gathered_.reset();  // Two would lie on the disk.
    const auto stops = [this] { return ends_.load(); };
    const detail::GatherLimits limits{answers_within, gathered_bytes_max, stops, false, which};
    gathered_.reset(new Gathered{job, which, now, {address_, job, limits}});
    gathered_->at = steady_now();
  }
  return gathered_->journals;
}

std::string Questions::explain(JobId job, const web::HttpRequest& request) {
  const std::string task = text_in(request, "task");
  const auto cluster = detail::connect(address_, detail::connect_within_default, answers_within);
  nlohmann::json fields;
  std::vector<JobInfo> jobs;
  try {
    jobs = cluster->jobs(job);
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::job_unknown || task.empty()) throw;
  }
  if (jobs.empty() || has_ended(jobs.front().phase)) {
    fields = {{"job", jobs.empty() ? nlohmann::json() : detail::to_json(jobs.front())}, {"over", true}};
    if (task.empty()) return detail::json_line(fields);
    const TaskSelector which = detail::selector_of(task);
    detail::JournalView view(journals(job, which).paths());
    auto lines = nlohmann::json::array();
    detail::LineSearch search(view, {job, which});
    while (const auto line = search.next()) {
      if (lines.size() == lines_max) {
        fields["lines_beyond"] = true;  // /history has them, page by page.
        break;
      }
      lines.push_back(detail::to_json(*line));
    }
    if (lines.empty())
      throw Failure({ErrorCode::job_unknown, "the journals say nothing of '" + printable(task) + "'"});
    fields["lines"] = std::move(lines);
    return detail::json_line(fields);
  }
  const auto ask = [&](const TaskSelector& which) { return cluster->explain(job, which); };
  fields = detail::to_json(detail::explain(ask, detail::selector_of(task)));
  fields["job"] = detail::to_json(jobs.front());
  return detail::json_line(fields);
}

std::string Questions::timeline(JobId job, const web::HttpRequest& request) {
  constexpr double longest = 1e9;
  detail::TimelineWindow window;
  window.columns = static_cast<std::size_t>(
      number_in(request, "columns", 800, 1, static_cast<double>(detail::timeline_columns_max)));
  window.from = seconds(number_in(request, "from", 0, 0, longest));
  window.to = seconds(number_in(request, "to", 0, 0, longest));
  const detail::GatheredJournals& from = journals(job);
  std::vector<std::string> notices;
  nlohmann::json fields = detail::to_json(detail::make_timeline(from.paths(), job, window, notices), job);
  fields["notices"] = array_of(both(from.notices(), notices));
  return detail::json_line(fields);
}

std::string Questions::graph(JobId job, const web::HttpRequest&) {
  const detail::GatheredJournals& from = journals(job);
  std::vector<std::string> notices;
  const detail::PastGraph read = detail::read_graph(from.paths(), job, notices);
  nlohmann::json fields = detail::to_json(read, detail::picture_of(read), job);
  fields["notices"] = array_of(both(from.notices(), notices));
  return detail::json_line(fields);
}

std::string Questions::report(JobId job, const web::HttpRequest&) {
  const detail::GatheredJournals& from = journals(job);
  std::vector<std::string> notices;
  nlohmann::json fields = detail::to_json(detail::make_report(from.paths(), job, notices), job);
  fields["notices"] = array_of(both(from.notices(), notices));
  return detail::json_line(fields);
}

std::string Questions::history(JobId job, const web::HttpRequest& request) {
  const auto after = static_cast<std::uint64_t>(number_in(request, "after", 0, 0, 1e15));
  const auto limit =
      static_cast<std::uint64_t>(number_in(request, "limit", 200, 1, static_cast<double>(lines_max)));
  const bool failed = number_in(request, "failed", 0, 0, 1) > 0;
  const detail::LineFilter filter{job, detail::selector_of(text_in(request, "task"), failed)};
  const detail::GatheredJournals& from = journals(job, filter.tasks);
  detail::JournalView view(from.paths());
  auto lines = nlohmann::json::array();
  nlohmann::json next;
  std::uint64_t found = 0;
  detail::LineSearch search(view, filter);
  while (const auto line = search.next()) {
    if (found++ < after) continue;
    if (lines.size() == limit) {
      next = after + limit;
      break;
    }
    lines.push_back(detail::to_json(*line));
  }
  return detail::json_line({{"lines", std::move(lines)},
                            {"next", std::move(next)},
                            {"notices", array_of(both(from.notices(), view.notices()))}});
}

/// The newest lines. A further look gets newer lines beside those that are kept here; a long log comes in
/// parts, one with each look.
std::string Questions::logs(JobId job, const web::HttpRequest& request) {
  const auto tail =
      static_cast<std::size_t>(number_in(request, "tail", 500, 1, static_cast<double>(lines_max)));
  const std::string task = text_in(request, "task");
  if (!followed_ || followed_->job != job || followed_->task != task) {
    detail::FollowOptions how{
        {detail::selector_of(task)}, lines_max, log_pages_max, [this] { return ends_.load(); }};
    followed_.reset(new Followed{job, task, {address_, job, std::move(how)}, {}, {}, 0});
  }
  Followed& followed = *followed_;
  detail::FollowedLog::News news = followed.log.look();
  followed.older += news.older;
  for (detail::LogLine& line : news.lines) {
    if (line.gap) {
      followed.gaps.push_back((line.place.empty() ? "" : line.place + ": ") + line.text);
      if (followed.gaps.size() > log_gaps_max) followed.gaps.pop_front();
      if (line.unix_ns == 0) continue;  // Without a time, no place among the lines.
    }
    followed.newest.push_back(std::move(line));
    if (followed.newest.size() <= lines_max) continue;
    followed.newest.pop_front();
    ++followed.older;
  }
  const std::size_t beyond = followed.newest.size() - std::min(tail, followed.newest.size());
  auto lines = nlohmann::json::array();
  for (std::size_t i = beyond; i < followed.newest.size(); ++i)
    lines.push_back(detail::to_json(followed.newest[i], job));
  return detail::json_line({{"job", to_string(job)},
                            {"lines", std::move(lines)},
                            {"older", followed.older + beyond},
                            {"notices", array_of({followed.gaps.begin(), followed.gaps.end()})}});
}

std::string Questions::past_jobs() {
  auto jobs = nlohmann::json::array();
  std::vector<std::string> notices;
  try {
    const detail::GatheredJournals& from = journals(std::nullopt);
    detail::JournalView view(from.paths());
    for (const detail::PastJob& job : read_history(view)) jobs.push_back(detail::to_json(job));
    notices = both(from.notices(), view.notices());
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::job_unknown) throw;
    notices = {failure.error().what + "; " +
               failure.error().hint};  // None was run yet, or no node keeps a journal.
  }
  return detail::json_line({{"jobs", std::move(jobs)}, {"notices", array_of(notices)}});
}

}  // namespace dag::inspector
