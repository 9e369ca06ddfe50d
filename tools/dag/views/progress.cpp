#include "tools/dag/views/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "tools/dag/options.hpp"
#include "tools/dag/views/print.hpp"

namespace dag::tool {
namespace {

// ---- Texts

std::string padded(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, width(text)), ' ');
}

/// Lines of pieces, each as full as there is room.
std::vector<std::string> wrapped(const std::vector<std::string>& pieces, std::size_t columns) {
  std::vector<std::string> lines;
  for (const std::string& whole : pieces) {
    const std::string piece = cut(whole, columns);
    if (!lines.empty() && width(lines.back()) + 1 + width(piece) <= columns) {
      lines.back() += " " + piece;
    } else {
      lines.push_back(piece);
    }
  }
  return lines;
}

/// With commas between.
std::vector<std::string> listed(std::vector<std::string> items) {
  for (std::size_t i = 0; i + 1 < items.size(); ++i) items[i] += ",";
  return items;
}

std::uint64_t total(const JobCounts& counts) { return ended(counts) + counts.open; }

std::uint64_t percent(const JobCounts& counts) {
  return total(counts) == 0 ? 0 : ended(counts) * 100 / total(counts);
}

bool is_open_ended(const JobInfo& job, const Pace& pace) {
  return !has_ended(job.phase) && !states_its_total(job) && pace.open_ended();
}

/// A share of the whole, where the whole is known or stated.
std::string share_text(const JobInfo& job, const Pace& pace) {
  const std::string number = std::to_string(percent(counts_of_whole(job)));
  return is_open_ended(job, pace) ? "open-ended, " + number + " % of what is known" : number + "%";
}

std::string fraction(const JobCounts& counts) {
  return std::to_string(ended(counts)) + "/" + std::to_string(total(counts));
}

/// Bad ends of which there are any.
std::vector<std::string> bad_ends(const JobCounts& counts) {
  std::vector<std::string> items;
  if (counts.failed > 0) items.push_back(std::to_string(counts.failed) + " failed");
  if (counts.skipped > 0) items.push_back(std::to_string(counts.skipped) + " skipped");
  if (counts.cancelled > 0) items.push_back(std::to_string(counts.cancelled) + " cancelled");
  return items;
}

/// Whole seconds: an estimate knows no more.
std::string estimate_text(Duration estimate) {
  using std::chrono::seconds;
  return text_of(estimate < seconds(1) ? estimate : Duration(std::chrono::round<seconds>(estimate)));
}

std::string path_text(const PathLeft& path) {
  const std::string tasks = counted(path.tasks, "task");
  if (path.left == Duration{0}) return "critical path " + tasks;

  return "critical path " + estimate_text(path.left) + " (" + tasks + ")";
}

/// At the pace of the last seconds, but not before the longest chain of usual durations that is left: a few
/// long tasks behind many short ones would seem to be over soon. In that chain, what runs counts as a whole.
std::optional<Duration> time_left(const JobInfo& job, const Pace& pace, const std::optional<PathLeft>& path) {
  const auto left = pace.left(counts_of_whole(job).open);
  return left && path ? std::max(*left, path->left) : left;
}

/// Pace, time left and processes.
std::vector<std::string> outlook(const JobInfo& job, const Pace& pace, const std::optional<PathLeft>& path) {
  std::vector<std::string> items;
  if (!has_ended(job.phase)) {
    const double per_second = pace.tasks_per_second().value_or(0);
    items.push_back(rate_text(per_second) + " tasks/s");
    const auto left = time_left(job, pace, path);
    items.push_back((left && is_open_ended(job, pace) ? "left at least " : "left ") +
                    (left ? estimate_text(*left) : "-"));
    if (path) items.push_back(path_text(*path));
  }
  items.push_back(counted(processes_up(job), "process", "processes"));
  return items;
}

// ---- Bars

struct ProgressRow {
  std::string label;
  JobCounts counts;
};

void add(JobCounts& to, const JobCounts& more) {
  to.open += more.open;
  to.finished += more.finished;
  to.failed += more.failed;
  to.skipped += more.skipped;
  to.cancelled += more.cancelled;
  to.tolerated += more.tolerated;
}

/// Texts behind a bar, from long to short.
enum class Form { counts, fraction, percent };

std::string behind_bar(const JobCounts& counts, Form form) {
  std::string text = std::to_string(percent(counts)) + "%";
  text.insert(0, 4 - std::min<std::size_t>(4, text.size()), ' ');
  if (form != Form::percent) text += " " + fraction(counts);
  if (counts.failed > 0) {
    text += form == Form::counts ? ", " + std::to_string(counts.failed) + " failed" : "!";
  }
  return text;
}

struct Layout {
  Form form = Form::percent;
  std::size_t label = 0, bar = 0;  ///< columns
  bool bars = true, colour = false;
};

constexpr std::size_t bar_max = 60;
/// Limits of kernels whose progress is shown.
constexpr std::size_t kernels_shown = 10, kernels_in_line = 3;
constexpr std::size_t around_bar = 4;  ///< " [" and "] "

/// The longest form that leaves enough for a bar.
Layout layout_of(const JobCounts& all, const std::vector<ProgressRow>& rows, std::size_t columns,
                 const Screen& screen) {
  Layout layout;
  for (const Form form : {Form::counts, Form::fraction, Form::percent}) {
    std::size_t label = 0, behind = width(behind_bar(all, form));
    for (const ProgressRow& row : rows) {
      label = std::max(label, width(row.label));
      behind = std::max(behind, width(behind_bar(row.counts, form)));
    }
    label = std::min(label, std::max<std::size_t>(columns / 3, 5));
    const std::size_t others = label + behind + (screen.bars ? around_bar : 1);
    const std::size_t bar_min = !screen.bars ? 0 : form == Form::percent ? 1 : 10;
    layout = {form, label, columns - std::min(others, columns), screen.bars, screen.colour};
    if (others + bar_min <= columns) break;
  }
  layout.bar = std::min(layout.bar, bar_max);
  return layout;
}

std::string coloured(std::size_t cells, char cell, const char* colour) {
  const std::string text(cells, cell);
  if (colour == nullptr || cells == 0) return text;
  return colour + text + "\x1b[0m";
}

/// `#` finished, `!` failed, `x` skipped or cancelled. One failure of many shows, and it is full at the end
/// only.
std::string bar_of(const JobCounts& counts, std::size_t cells, bool colour) {
  const std::uint64_t all = std::max<std::uint64_t>(total(counts), 1);
  const auto up_to = [&](std::uint64_t tasks) { return static_cast<std::size_t>(tasks * cells / all); };
  const std::size_t finished = up_to(counts.finished);
  std::size_t failed = up_to(counts.finished + counts.failed);
  if (counts.failed > 0 && failed == finished) ++failed;
  const std::size_t over = std::max(failed, up_to(ended(counts)));
  return coloured(finished, '#', colour ? "\x1b[32m" : nullptr) +
         coloured(failed - finished, '!', colour ? "\x1b[31m" : nullptr) +
         coloured(over - failed, 'x', colour ? "\x1b[33m" : nullptr) + std::string(cells - over, '.');
}

std::string row_text(const ProgressRow& row, const Layout& layout) {
  std::string text = padded(cut(row.label, layout.label), layout.label) + " ";
  if (layout.bars) text += "[" + bar_of(row.counts, layout.bar, layout.colour) + "] ";
  return text + behind_bar(row.counts, layout.form);
}

/// Without a label, since tasks may have any name; aligned with the other rows.
std::string row_of_all(const JobCounts& counts, const Layout& layout) {
  const std::size_t before = layout.label > 0 ? layout.label + 1 : 0;
  std::string text(layout.bars ? 0 : before, ' ');
  if (layout.bars) text = "[" + bar_of(counts, layout.bar + before, layout.colour) + "] ";
  return text + behind_bar(counts, layout.form);
}

/// A row for each name of tasks, in the order of names.
std::vector<ProgressRow> names_of(const JobInfo& job) {
  std::vector<ProgressRow> rows;
  if (!job.details) return rows;
  for (const ClassInfo& one : job.details->classes) rows.push_back({shown(one.name), one.counts});
  if (job.details->others != JobCounts{}) rows.push_back({"(further names)", job.details->others});
  return rows;
}

/// The rank of a row: rows of a lower rank get a line first.
int rank(const JobCounts& counts) {
  if (counts.open == 0) return 2;
  return ended(counts) == 0 ? 1 : 0;
}

/// Keeps at most `room` rows, rows of running tasks first, and returns the others. All keep their order.
std::vector<ProgressRow> take_hidden(std::vector<ProgressRow>& rows, std::size_t room) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&rows](std::size_t a, std::size_t b) {
    return rank(rows[a].counts) < rank(rows[b].counts);
  });
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(room));
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(room), order.end());
  std::vector<ProgressRow> kept, hidden;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (i < room ? kept : hidden).push_back(std::move(rows[order[i]]));
  }
  rows = std::move(kept);
  return hidden;
}

std::string text_of_hidden(const std::vector<ProgressRow>& hidden) {
  JobCounts counts;
  for (const ProgressRow& row : hidden) add(counts, row.counts);
  return "and " + std::to_string(hidden.size()) + " more: " + fraction(counts) +
         (counts.failed > 0 ? ", " + std::to_string(counts.failed) + " failed" : "");
}

/// Progress texts of kernels, a limited number of them, and the number of the rest.
std::vector<std::string> said_by_kernels(const JobInfo& job, std::size_t count_max) {
  std::vector<std::string> said;
  if (!job.details || count_max == 0) return said;
  const std::vector<TaskProgress>& progress = job.details->progress;
  for (const TaskProgress& one : progress) {
    if (said.size() + 1 >= count_max && progress.size() > count_max) {
      said.push_back("and " + std::to_string(progress.size() - said.size()) + " more tasks report progress");
      break;
    }
    said.push_back(shown(one.name) + " (" + to_string(one.task) + ") " + progress_text(one));
  }
  return said;
}

std::string title_of(const JobInfo& job) { return to_string(job.job) + " " + shown(job.name) + ":"; }

}  // namespace

Instant steady_now() { return {std::chrono::steady_clock::now().time_since_epoch()}; }

std::string rate_text(double tasks_per_second) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", tasks_per_second < 10 ? 1 : 0, tasks_per_second);
  return text;
}

// ---- Pace

void Pace::on_counts(const JobCounts& counts, Instant now) {
  const std::uint64_t now_ended = ended(counts);
  // A new leader has not heard of all of them yet.
  if (!heard_.empty() && now_ended < heard_.back().ended) heard_.clear();
  heard_.push_back({now, now_ended, total(counts)});
  while (heard_.size() > 2 && now - heard_[1].at >= window) heard_.pop_front();
}

std::optional<double> Pace::tasks_per_second() const {
  if (heard_.size() < 2 || heard_.back().ended == heard_.front().ended) return std::nullopt;
  const std::chrono::duration<double> passed = heard_.back().at - heard_.front().at;
  if (passed.count() <= 0) return std::nullopt;
  return static_cast<double>(heard_.back().ended - heard_.front().ended) / passed.count();
}

bool Pace::open_ended() const { return !heard_.empty() && heard_.back().known > heard_.front().known; }

std::optional<Duration> Pace::left(std::uint64_t open) const {
  const auto pace = tasks_per_second();
  if (!pace) return std::nullopt;
  constexpr double longest = 9e9;  // In seconds, so that a Duration holds it.
  const std::chrono::duration<double> seconds(std::min(static_cast<double>(open) / *pace, longest));
  return std::chrono::duration_cast<Duration>(seconds);
}

// ---- Lines

bool is_news(const JobInfo& before, const JobInfo& now) {
  const auto said = [](const JobInfo& job) {
    return job.details ? job.details->progress : std::vector<TaskProgress>();
  };
  return before.phase != now.phase || before.counts != now.counts ||
         processes_up(before) != processes_up(now) || said(before) != said(now);
}

std::vector<std::string> progress_lines(const JobInfo& job, const Pace& pace, const Screen& screen,
                                        const std::optional<PathLeft>& path) {
  const std::size_t columns = std::max(screen.columns, Screen::columns_min);
  const std::size_t rows_max = std::max<std::size_t>(screen.rows, 2) - 1;
  const std::string elapsed = text_of(job.age);
  std::vector<std::string> title{title_of(job), phase_text(job.phase, job.counts) + ","};
  if (is_open_ended(job, pace)) title.push_back(share_text(job, pace) + ",");
  title.push_back(elapsed);
  std::vector<std::string> lines = wrapped(title, columns);
  std::vector<std::string> items = outlook(job, pace, path);
  for (std::string& item : bad_ends(job.counts)) items.push_back(std::move(item));
  const std::vector<std::string> foot = wrapped(listed(std::move(items)), columns);

  std::vector<ProgressRow> names = names_of(job), hidden;
  const std::size_t others = lines.size() + 1 + foot.size();
  const std::size_t room = rows_max - std::min(rows_max, others);
  if (names.size() > room) hidden = take_hidden(names, room - std::min<std::size_t>(room, 1));
  const JobCounts whole = counts_of_whole(job);
  const Layout layout = layout_of(whole, names, columns, screen);
  lines.push_back(row_of_all(whole, layout));
  for (const ProgressRow& row : names) lines.push_back(row_text(row, layout));
  if (!hidden.empty()) lines.push_back(cut(text_of_hidden(hidden), columns));
  const std::size_t taken = lines.size() + foot.size();
  for (const std::string& said :
       said_by_kernels(job, std::min(kernels_shown, rows_max - std::min(rows_max, taken))))
    lines.push_back(cut(said, columns));
  lines.insert(lines.end(), foot.begin(), foot.end());
  if (lines.size() > rows_max) {
    lines.resize(rows_max);
    lines.back() = "..";
  }
  return lines;
}

std::string progress_line(const JobInfo& job, const Pace& pace, const std::optional<PathLeft>& path) {
  std::vector<std::string> items{phase_text(job.phase, job.counts), text_of(job.age),
                                 fraction(counts_of_whole(job)) + " tasks (" + share_text(job, pace) + ")"};
  for (std::string& item : bad_ends(job.counts)) items.push_back(std::move(item));
  for (std::string& item : outlook(job, pace, path)) items.push_back(std::move(item));
  for (std::string& item : said_by_kernels(job, kernels_in_line)) items.push_back(std::move(item));
  std::string line = title_of(job);
  for (const std::string& item : listed(std::move(items))) line += " " + item;
  return line + "\n";
}

nlohmann::json progress_json(const JobInfo& job, const Pace& pace, const std::optional<PathLeft>& path) {
  nlohmann::json json = to_json(job);
  const auto per_second = pace.tasks_per_second();
  const auto left = time_left(job, pace, path);
  json["processes_up"] = processes_up(job);
  json["open_ended"] = is_open_ended(job, pace);
  json["tasks_per_second"] = per_second ? nlohmann::json(*per_second) : nlohmann::json();
  json["left_seconds"] =
      left ? nlohmann::json(std::chrono::duration<double>(*left).count()) : nlohmann::json();
  const bool known = path && path->left > Duration{0};
  json["critical_path_seconds"] =
      known ? nlohmann::json(std::chrono::duration<double>(path->left).count()) : nlohmann::json();
  json["critical_path_tasks"] = path ? nlohmann::json(path->tasks) : nlohmann::json();
  return json;
}

}  // namespace dag::tool
