#include "tools/dag/views/print.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "libdag/client/node_lanes.hpp"
#include "tools/dag/options.hpp"

namespace dag::tool {
namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[64];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// ", 3 failed", ", 3 failed (tolerated)" or ", 3 failed (1 tolerated)"; empty when no task failed.
std::string failed_text(std::uint64_t failed, std::uint64_t tolerated) {
  if (failed == 0) return "";
  const std::string text = ", " + std::to_string(failed) + " failed";
  if (tolerated == 0) return text;
  return text + (tolerated == failed ? " (tolerated)" : " (" + std::to_string(tolerated) + " tolerated)");
}

std::string counts_text(const JobCounts& counts) {
  std::string text =
      std::to_string(counts.finished) + " finished" + failed_text(counts.failed, counts.tolerated);
  const auto add = [&text](std::uint64_t count, const char* what) {
    if (count > 0) text += ", " + std::to_string(count) + " " + what;
  };
  add(counts.skipped, "skipped");
  add(counts.cancelled, "cancelled");
  add(counts.open, "open");
  return text;
}

/// An error's message, below its subject; users' text cannot send codes to the terminal.
std::string below(const Error& error) {
  std::string text;
  std::istringstream lines(error.message());
  for (std::string line; std::getline(lines, line);) text += "            " + shown(line) + "\n";
  return text;
}

std::string details_text(const JobDetails& details) {
  std::string text;
  for (const ClassInfo& one : details.classes) {
    text += "  class     " + shown(one.name) + ": " + counts_text(one.counts) + "\n";
  }
  if (details.others != JobCounts{}) text += "  others    " + counts_text(details.others) + "\n";
  if (details.late > 0) {
    text += "  late      " + std::to_string(details.late) + " ended after their deadline\n";
  }
  for (const TaskProgress& one : details.progress)
    text += "  says      " + shown(one.name) + " (" + to_string(one.task) + "): " + progress_text(one) + "\n";
  for (const TaskInfo& task : details.tasks) {
    text += "  task      " + shown(task.name) + " (" + to_string(task.task) +
            "): " + std::string(name(task.outcome));
    if (task.tries > 0) {
      text += ", " + counted(task.tries, "try", "tries");
    }
    if (task.late > Duration{0}) text += ", " + text_of(task.late) + " after its deadline";
    text += "\n";
    if (task.error) text += below(*task.error);
  }
  if (details.tasks_beyond > 0) {
    text += "  task      and " + std::to_string(details.tasks_beyond) + " more\n";
  }
  return text;
}

std::string state_text(const WorkerInfo& worker) {
  if (worker.up) return "up";
  if (!worker.end.empty()) return shown(worker.end);
  return worker.life == Life{} ? "starting" : "ended";
}

}  // namespace

// Continuation bytes take no room.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string counted(std::uint64_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::uint64_t ended(const JobCounts& counts) {
  return counts.finished + counts.failed + counts.skipped + counts.cancelled;
}

std::string cut(const std::string& text, std::size_t columns) {
  if (width(text) <= columns) return text;
  std::string kept;
  std::size_t letters = 0;
  for (const char c : text) {
    const bool begins_letter = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (begins_letter && ++letters + 2 > columns) break;
    kept += c;
  }
  return kept + "..";
}

/// A line for each entry that has a text.
static std::string narrow_table(const std::vector<std::string>& heads,
                                const std::vector<std::vector<std::string>>& rows) {
  std::size_t wide = 0;
  for (const std::string& head : heads) wide = std::max(wide, width(head));
  std::string text;
  for (const auto& row : rows) {
    if (!text.empty()) text += "\n";
    for (std::size_t i = 0; i < row.size() && i < heads.size(); ++i) {
      if (row[i].empty()) continue;
      text += heads[i] + std::string(wide - width(heads[i]) + 1, ' ') + row[i] + "\n";
    }
  }
  return text;
}

std::string table(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows,
                  std::size_t columns) {
  std::vector<std::size_t> widths;
  for (const std::string& head : heads) widths.push_back(width(head));
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width(row[i]));
    }
  }
  std::size_t all = 0;
  for (const std::size_t one : widths) all += one + (all == 0 ? 0 : 2);
  if (all > columns && !rows.empty()) return narrow_table(heads, rows);
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      line += row[i] + std::string(widths[i] - width(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add(heads);
  for (const auto& row : rows) add(row);
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double amount = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB", "PiB"}) {
    if (amount < 1024) break;
    amount /= 1024;
    unit = next;
  }
  return formatted("%.1f %s", amount, unit);
}

std::string node_state_text(const NodeInfo& node) {
  return std::string(name(node.state)) + (node.load.draining ? ", draining" : "") +
         (node.load.witness ? ", witness" : "") + (node.load.disk_full ? ", disk full" : "") +
         (node.load.disk_stuck ? ", disk stuck" : "") + (node.load.sick ? ", sick" : "");
}

std::string link_text(const detail::NodeLink& link) {
  const std::string from = to_string(link.from), to = to_string(link.to);
  if (!link.heard) return from + " does not hear " + to;
  std::string text = from + " has heard " + to + " " + text_of(link.heard->ago) + " ago";
  if (link.heard->round_trip > Duration{0})
    text += ", round trip " + formatted("%.1f ms", seconds_of(link.heard->round_trip) * 1000);
  return link.suspect ? text + ", and suspects that " + to + " is gone" : text;
}

std::string nodes_text(const std::vector<NodeInfo>& nodes) {
  std::vector<std::vector<std::string>> rows;
  for (const NodeInfo& node : nodes) {
    rows.push_back({to_string(node.life.process), node_state_text(node), shown(node.endpoint.control),
                    detail::busy_text(detail::lanes_of(node))});
  }
  return table({"NODE", "STATE", "ADDRESS", "BUSY"}, rows);
}

std::string node_text(const NodeInfo& node) {
  std::string text = to_string(node.life.process) + " (" + node_state_text(node) + "), life " +
                     to_string(node.life) + "\n  address   " + shown(node.endpoint.control) + ", bulk " +
                     shown(node.endpoint.bulk) + "\n";
  if (!node.endpoint.web.empty()) text += "  http      http://" + shown(node.endpoint.web) + "/\n";
  if (node.pid != 0) text += "  process   " + std::to_string(node.pid) + "\n";
  for (const std::string& why : node.not_ready) text += "  not ready: " + shown(why) + "\n";
  text += "  jobs      " + std::to_string(node.jobs) + " open\n";
  for (const DeviceLoad& device : node.load.devices) {
    text += "  device    " + shown(device.kind) + ": " +
            std::to_string(device.lanes - std::min(device.lanes, device.lanes_free)) + " of " +
            std::to_string(device.lanes) + " lanes busy, " + bytes_text(device.memory_free_bytes) + " of " +
            bytes_text(device.memory_bytes) + " free, backlog " + text_of(device.backlog) + "\n";
  }
  return text;
}

std::string jobs_text(const std::vector<JobInfo>& jobs) {
  std::vector<std::vector<std::string>> rows;
  for (const JobInfo& job : jobs) {
    const std::uint64_t done = ended(job.counts);
    rows.push_back({to_string(job.job), shown(job.name), phase_text(job.phase, job.counts),
                    std::to_string(done) + "/" + std::to_string(done + counts_of_whole(job).open),
                    std::to_string(job.counts.failed), std::to_string(processes_up(job)), text_of(job.age)});
  }
  return table({"JOB", "NAME", "PHASE", "ENDED", "FAILED", "PROCESSES", "AGE"}, rows);
}

static std::string outcomes_text(const detail::PastJob& job) {
  if (!job.over) return job.began_unix_ns ? std::to_string(job.tasks) + " submitted" : "";
  std::string tasks =
      std::to_string(job.over->finished) + " finished" + failed_text(job.over->failed, job.verdict.tolerated);
  if (job.over->skipped > 0) tasks += ", " + std::to_string(job.over->skipped) + " skipped";
  if (job.over->cancelled > 0) tasks += ", " + std::to_string(job.over->cancelled) + " cancelled";
  if (job.over->stopped) tasks += "; " + job.over->stopped->what;
  return tasks;
}

std::string summary_text(const detail::PastJob& job) {
  const auto span = detail::took(job);
  std::string text = to_string(job.job) + (job.name.empty() ? "" : " " + shown(job.name)) + ": " +
                     detail::end_text(job) + (span ? " after " + text_of(*span) : "");
  if (job.began_unix_ns) text += ", began " + detail::utc_text(*job.began_unix_ns);
  return text + "\n  tasks  " + shown(outcomes_text(job)) + "\n\n";
}

std::string history_text(const std::vector<detail::PastJob>& jobs) {
  std::vector<std::vector<std::string>> rows;
  for (const detail::PastJob& job : jobs) {
    const auto span = detail::took(job);
    rows.push_back({to_string(job.job), job.name.empty() ? "-" : shown(job.name),
                    job.began_unix_ns ? detail::utc_text(*job.began_unix_ns) : "-",
                    span ? text_of(*span) : "-", detail::end_text(job), shown(outcomes_text(job))});
  }
  return table({"JOB", "NAME", "BEGAN", "TOOK", "END", "TASKS"}, rows);
}

static std::string names_of(const std::vector<ProcessId>& nodes) {
  std::string names;
  for (const ProcessId node : nodes) names += (names.empty() ? "" : ", ") + to_string(node);
  return names;
}

std::string ordinal(std::uint64_t number) {
  const std::uint64_t last = number % 100 / 10 == 1 ? 0 : number % 10;
  return std::to_string(number) + (last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::string progress_text(const TaskProgress& progress) {
  std::string text = formatted("%.0f %%", progress.fraction * 100);
  if (progress.number > 1) text += ", attempt " + std::to_string(progress.number);
  return progress.note.empty() ? text : text + ", " + shown(progress.note);
}

std::string job_text(const JobInfo& job) {
  std::string text = to_string(job.job) + " " + shown(job.name) + ": " + phase_text(job.phase, job.counts) +
                     " after " + text_of(job.age) + "\n  tasks     " + counts_text(job.counts) +
                     (states_its_total(job) ? ", " + std::to_string(job.total) + " in all, as stated" : "") +
                     "\n";
  if (job.retries != JobId{}) text += "  retries   " + to_string(job.retries) + "\n";
  for (const WorkerInfo& worker : job.workers) {
    text += "  process   " + process_text(worker) + ": " + state_text(worker);
    if (worker.pid != 0) text += ", pid " + std::to_string(worker.pid);
    text += "\n";
  }
  if (!job.copies.empty()) {
    const bool alone = job.copies.size() == 1;
    text += "  replicas  " + names_of(job.copies) +
            (alone ? " only. The job is lost if " + names_of(job.copies) + " dies" : "") + "\n";
  }
  if (job.error) text += "  error     " + job.error->message() + "\n";
  if (job.details) text += details_text(*job.details);
  return text;
}

}  // namespace dag::tool
