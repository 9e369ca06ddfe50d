// `dag report JOB`: where the time of a job went, from the journals of nodes.

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>

#include "libdag/client/checked_output.hpp"
#include "libdag/client/exit_status.hpp"
#include "libdag/story/report.hpp"
#include "libdag/story/report_page.hpp"
#include "tools/dag/chosen_journals.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/views/print.hpp"
#include "tools/dag/views/work_line.hpp"

namespace dag::tool {
namespace {

constexpr std::size_t classes_shown = 20;
constexpr std::size_t path_classes_shown = 5;

double seconds(Duration span) { return std::chrono::duration<double>(span).count(); }

std::string percent(Duration part, Duration whole) {
  if (whole <= Duration{0}) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", 100 * seconds(part) / seconds(whole));
  return text;
}

/// The time of all lanes together.
Duration capacity(const detail::JobReport& report) {
  return report.span * static_cast<Duration::rep>(report.lanes.size());
}

/// The critical path: more lanes do not make it shorter.
std::string path_text(const detail::JobReport& report) {
  if (!report.path || report.path->tasks == 0) return {};
  const detail::PathReport& path = *report.path;
  std::string text = "Critical path: " + std::to_string(path.tasks) + " tasks, " + text_of(path.length) +
                     ", " + percent(path.length, report.span) + " of the job's time:";
  const std::size_t shown_now = std::min(path.classes.size(), path_classes_shown);
  for (std::size_t i = 0; i < shown_now; ++i) {
    const auto& one = path.classes[i];
    text += (i == 0 ? " " : ", ") + std::to_string(one.tasks) + " " + shown(one.name) + " (" +
            text_of(one.total) + ")";
  }
  if (path.classes.size() > shown_now) text += ", and more";
  return "\n" + text + "\n";
}

bool helps_little(Duration schedule, Duration with_one_more) {
  return with_one_more > schedule - schedule / 100;
}

/// The reasons why tasks waited, and whether more lanes would help.
std::string waiting_text(const detail::JobReport& report) {
  if (!report.waiting || !report.scheduled || !report.with_one_more) return {};
  const detail::Waiting& waits = *report.waiting;
  const Duration all =
      waits.dependencies + waits.resources + waits.queue + waits.transfer + waits.retry + waits.other;
  std::string text = "Waiting time of tasks: " + text_of(all) + ": dependencies " +
                     percent(waits.dependencies, all) + ", no free lane " + percent(waits.resources, all) +
                     ", lane free elsewhere " + percent(waits.queue, all) + ", transfer " +
                     percent(waits.transfer, all) + ", retries " + percent(waits.retry, all) + ", dispatch " +
                     percent(waits.other, all) + "\n";
  text += "Idle lane time: " + text_of(waits.idle) + " (" + percent(waits.idle, capacity(report)) +
          "). Tasks were ready during " + text_of(waits.idle_while_ready) +
          " of it. Spread over nodes: " + percent(waits.idle_scattered, waits.idle) + "\n";
  text += "Best schedule (estimate): " + text_of(*report.scheduled) + " on " +
          counted(report.lanes.size(), "lane") + ", " + text_of(*report.with_one_more) + " on " +
          std::to_string(report.lanes.size() + 1) +
          (helps_little(*report.scheduled, *report.with_one_more) ? ". More lanes would not help\n" : "\n");
  return "\n" + text;
}

std::string report_text(const detail::JobReport& report, JobId job) {
  std::string text = to_string(job) + ": " + counted(report.tasks, "task") + ", " +
                     counted(report.runs, "run") + " on " + counted(report.lanes.size(), "lane") + " in " +
                     text_of(report.span) + "; lanes busy " + percent(report.busy, capacity(report)) + "\n";
  if (!report.over)
    text += "  the job is not over: running tasks, and tasks that have not begun, are not counted\n";
  if (report.again > Duration{0})
    text += "  " + text_of(report.again) + " (" + percent(report.again, report.busy) +
            ") went into failed and repeated runs\n";
  const auto count = [&](std::uint64_t number, const std::string& one, const std::string& many) {
    if (number > 0) text += "  " + counted(number, one, many) + "\n";
  };
  count(report.crashes, "process crash", "process crashes");
  count(report.losses, "attempt lost with its process or node", "attempts lost with their process or node");
  count(report.retries, "failure retried", "failures retried");
  count(report.unrun.others, "more task settled without a run", "more tasks settled without a run");
  count(report.unrun.finished,
        "more task finished without a recorded run: a journal is missing, or dropped records",
        "more tasks finished without a recorded run: a journal is missing, or dropped records");

  if (report.delays > 0)
    text += "  scheduling delay: median " + text_of(report.delay_median) + ", p99 " +
            text_of(report.delay_p99) + " (" + counted(report.delays, "task") + " with predecessors)\n";
  text += path_text(report);
  text += waiting_text(report);

  text += "\n";
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(report.classes.size(), classes_shown); ++i) {
    const detail::ClassReport& one = report.classes[i];
    rows.push_back({shown(one.name), std::to_string(one.runs), std::to_string(one.failed), text_of(one.total),
                    percent(one.total, report.busy), text_of(one.median), text_of(one.p99),
                    text_of(one.longest)});
  }
  text += table({"TASKS", "RUNS", "FAILED", "TOTAL", "SHARE", "MEDIAN", "P99", "LONGEST"}, rows);
  if (report.classes.size() > classes_shown)
    text += "and " + std::to_string(report.classes.size() - classes_shown) + " more names; --json has all\n";

  if (!report.stragglers.empty()) {
    text += "\nStragglers: runs more than " + std::to_string(detail::straggler_times) +
            " times as long as the median of their name\n";
    rows.clear();
    for (const detail::Straggler& one : report.stragglers)
      rows.push_back({shown(one.name) + " (" + to_string(one.task) + ")", to_string(one.place),
                      text_of(one.ran), text_of(one.median)});
    text += table({"TASK", "LANE", "RAN", "MEDIAN"}, rows);
    if (report.stragglers_beyond > 0) text += "and " + std::to_string(report.stragglers_beyond) + " more\n";
  }
  text += "\n";
  rows.clear();
  for (const detail::LaneReport& lane : report.lanes)
    rows.push_back({to_string(lane.lane), std::to_string(lane.runs), text_of(lane.busy),
                    percent(lane.busy, report.span)});
  return text + table({"LANE", "RUNS", "BUSY TIME", "SHARE"}, rows);
}

/// Writes a page that any browser opens without a network.
void write_page(const std::string& file, const detail::JobReport& report,
                const detail::JournalPaths& journals, JobId job, std::vector<std::string>& notices) {
  if (!file.ends_with(".html")) {
    throw Failure({ErrorCode::usage, "cannot write a report to '" + shown(file) + "'",
                   "its name must end in .html; without -o the report is text, with --json for programs"});
  }
  detail::TimelineWindow window;
  window.columns = detail::report_page_columns;
  const detail::Timeline timeline = detail::make_timeline(journals, job, window, notices);
  std::ofstream out(file, std::ios::binary);
  out << detail::report_page(report, timeline, job, notices);
  out.close();
  if (!out) throw Failure(not_written(shown(file), errno));
}

int report(const Options& options, JobId job, const std::string& file, const std::vector<std::string>& from) {
  WorkLine line;
  const ChosenJournals chosen(options, job, from, {.on_progress = line.on_progress()});
  const detail::JournalPaths journals(chosen.paths(), line.on_progress());
  std::vector<std::string> notices;
  const detail::JobReport made = detail::make_report(journals, job, notices);
  line.clear();
  for (const std::string& notice : notices) std::cerr << "dag: " << notice << '\n';
  if (made.runs == 0) {
    std::cerr << "dag: the journals have no runs of " << to_string(job)
              << "; nodes with `journal_runs = false` do not keep them\n";
    return exit_unknown;
  }
  if (!file.empty()) {
    notices.clear();
    write_page(file, made, journals, job, notices);
    line.clear();
    std::cerr << "dag: the report of " << to_string(job) << " is in " << shown(file) << '\n';
    if (!options.json) return exit_ok;
  }
  std::cout << (options.json ? json_line(to_json(made, job)) : report_text(made, job));
  return exit_ok;
}

}  // namespace

void add_report(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand(
      "report", "show where the time of a job went: by name, by lane, waiting, stragglers, repeated runs");
  const auto options = add_options(*command);
  const auto job = add_job(*command);
  const auto from = add_from(*command);
  const auto file = std::make_shared<std::string>();
  command->add_option("-o,--output", *file, "write a page for browsers, with plots, to FILE.html");
  command->callback([=, &chosen] {
    chosen = [=] { return report(*options, job_of(*job, *options, *from), *file, *from); };
  });
}

}  // namespace dag::tool
