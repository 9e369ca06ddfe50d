// `dag report JOB`: where the time of a job went, out of the journals of nodes.

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
  std::string text = "Critical path: " + std::to_string(path.tasks) + " tasks that took " +
                     text_of(path.length) + ", " + percent(path.length, report.span) + " of the whole:";
  const std::size_t shown_now = std::min(path.classes.size(), path_classes_shown);
  for (std::size_t i = 0; i < shown_now; ++i) {
    const auto& one = path.classes[i];
    text += (i == 0 ? " " : ", ") + std::to_string(one.tasks) + " " + shown(one.name) + " (" +
            text_of(one.total) + ")";
  }
  if (path.classes.size() > shown_now) text += ", and more";
  return "\n" + text + "\n";
}

/// For what tasks waited, and whether more lanes would help.
std::string waiting_text(const detail::JobReport& report) {
  if (!report.waiting || !report.scheduled || !report.with_one_more) return {};
  const detail::Waiting& waits = *report.waiting;
  const Duration all =
      waits.dependencies + waits.resources + waits.queue + waits.transfer + waits.retry + waits.other;
  std::string text = "Tasks waited " + text_of(all) + " in all: " + percent(waits.dependencies, all) +
                     " for others to end, " + percent(waits.resources, all) + " for a lane, " +
                     percent(waits.queue, all) + " for one of its node while others were free, " +
                     percent(waits.transfer, all) + " for inputs on their way, " + percent(waits.retry, all) +
                     " after a failure or loss, " + percent(waits.other, all) + " to be placed and begun\n";
  text += "Lanes had nothing to do for " + text_of(waits.idle) + ", " +
          percent(waits.idle, capacity(report)) + " of their time; for " + text_of(waits.idle_while_ready) +
          " of it tasks could have begun, and " + percent(waits.idle_scattered, waits.idle) +
          " of it was at other nodes than most of it\n";
  text += "Scheduled by its longest chains, it would take " + text_of(*report.scheduled) + " on " +
          std::to_string(report.lanes.size()) + " lanes, and " + text_of(*report.with_one_more) +
          " with one more\n";
  return "\n" + text;
}

std::string report_text(const detail::JobReport& report, JobId job) {
  std::string text = to_string(job) + ": " + counted(report.tasks, "task") + " ran " +
                     counted(report.runs, "time") + " on " + counted(report.lanes.size(), "lane") + " in " +
                     text_of(report.span) + "; lanes were busy for " +
                     percent(report.busy, capacity(report)) + " of it\n";
  if (!report.over) text += "  it is not over: what runs now, and what has not begun, is not counted here\n";
  if (report.again > Duration{0})
    text += "  " + text_of(report.again) + " (" + percent(report.again, report.busy) +
            ") went into runs that failed, or that repeated one\n";
  const auto count = [&](std::uint64_t number, const std::string& one, const std::string& many) {
    if (number > 0) text += "  " + counted(number, one, many) + "\n";
  };
  count(report.crashes, "time a task took its process down", "times a task took its process down");
  count(report.losses, "attempt was lost with its process or node",
        "attempts were lost with their process or node");
  count(report.retries, "failure was tried again", "failures were tried again");
  count(report.unrun.others, "more task settled without having run", "more tasks settled without having run");
  count(report.unrun.finished,
        "more task finished, and where is not known: a journal is missing, or had to drop records",
        "more tasks finished, and where is not known: a journal is missing, or had to drop records");

  if (report.delays > 0)
    text += "  scheduling delay: median " + text_of(report.delay_median) + ", p99 " +
            text_of(report.delay_p99) + " (of " + std::to_string(report.delays) +
            " that waited for others)\n";
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
    text += "\nStragglers, that ran more than " + std::to_string(detail::straggler_times) +
            " times as long as the median of their name:\n";
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
    std::cerr << "dag: no lane says that it ran a task of " << to_string(job)
              << "; nodes do not keep that with `journal_runs = false`\n";
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
      "report", "where the time of a job went: by name, by lane, stragglers, what ran more than once");
  const auto options = add_options(*command);
  const auto job = add_job(*command);
  const auto from = add_from(*command);
  const auto file = std::make_shared<std::string>();
  command->add_option("-o,--output", *file, "a page for browsers, with plots: FILE.html");
  command->callback([=, &chosen] {
    chosen = [=] { return report(*options, job_of(*job, *options, *from), *file, *from); };
  });
}

}  // namespace dag::tool
