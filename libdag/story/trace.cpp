#include "libdag/story/trace.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "libdag/graph/text.hpp"
#include "libdag/story/job_times.hpp"
#include "libdag/story/journal_view.hpp"
#include "libdag/story/task_names.hpp"
#include "libdag/story/timeline.hpp"

namespace dag::detail {
namespace {

/// A lane of a process.
using Track = JobTimes::Lane;

/// Results of the first reading.
struct Known {
  TaskNames names;
  JobTimes times;
  std::set<ProcessId> processes;
  std::int64_t began_unix_ns = std::numeric_limits<std::int64_t>::max();
};

Known read_names(const JournalPaths& journals, JobId job) {
  Known known;
  JournalView view(journals);
  while (const auto entry = view.next()) {
    const JournalEvent& record = entry->record;
    if (record.job != job) continue;
    known.names.add(record);
    known.times.add(*entry);
    if (const auto* ran = std::get_if<event::Ran>(&record.what)) {
      known.processes.insert(record.place.process);
      known.began_unix_ns = std::min(known.began_unix_ns, entry->unix_ns - ran->ran.count());
    } else if (is_mark(record.what)) {
      known.processes.insert(record.place.process);
      known.began_unix_ns = std::min(known.began_unix_ns, entry->unix_ns);
    }
  }
  return known;
}

class TraceWriter {
 public:
  TraceWriter(std::ostream& out, Known known, JobId job) : out_(out), known_(std::move(known)), job_(job) {}

  void begin() {
    out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    for (const ProcessId process : known_.processes) describe("process_name", process, 0, to_string(process));
    for (const auto& [process, lane] : known_.times.lanes())
      describe("thread_name", process, lane + 1, "lane " + std::to_string(lane));
  }
  void end(const TraceCounts& counts) {
    out_ << "\n],\"otherData\":{\"job\":" << json_string(to_string(job_)) << ",\"began_unix_ns\":\""
         << (known_.processes.empty() ? 0 : known_.began_unix_ns)
         << "\",\"arrows_left_out\":" << counts.arrows_beyond + counts.arrows_backwards << "}}\n";
  }

  void slice(const JournalEntry& entry, const event::Ran& ran) {
    const JournalEvent& record = entry.record;
    const Track track = JobTimes::lane_of(record.place);
    // The clock is read again for the event, so what follows may seem to begin before the last one's end: it
    // is drawn shorter, and says how long it was.
    const std::int64_t end = entry.unix_ns - known_.began_unix_ns;
    std::int64_t& last_end = ended_[track];
    const std::int64_t begin = std::min(end, std::max(last_end, end - ran.ran.count()));
    last_end = std::max(last_end, end);
    slice_of_[record.task] = {track, begin, end};
    next("X", track.first, track.second + 1, begin, name_of(record.task));
    out_ << ",\"dur\":" << microseconds(end - begin) << ",\"args\":{\"task\":\"" << to_string(record.task)
         << "\",\"attempt_id\":\"" << to_string(record.attempt) << "\",\"outcome\":\"" << name(ran.outcome)
         << "\"";
    if (end - begin < ran.ran.count()) out_ << ",\"ran_us\":" << microseconds(ran.ran.count());
    if (!ran.error.empty()) out_ << ",\"error\":" << json_string(printable(ran.error));
    out_ << "}}";
  }
  void mark(const JournalEntry& entry) {
    const JournalLine line = line_of(entry);
    next("i", entry.record.place.process, 0, entry.unix_ns - known_.began_unix_ns,
         (line.task ? name_of(*line.task) + " " : "") + line.what);
    out_ << ",\"s\":\"p\"";
    if (line.task) out_ << ",\"args\":{\"task\":\"" << to_string(*line.task) << "\"}";
    out_ << "}";
  }

  /// How many tasks could begin and wait, and how many lanes run one, over time.
  void counters(TraceCounts& counts) {
    if (known_.times.graph().empty()) return;
    const JobTimes::Placed placed = known_.times.placed();
    counter(counts, "tasks that wait for a lane", "ready", ready_spans(placed.graph, placed.times));
    std::vector<Span> busy;
    for (const LaneSpans& lane : placed.lanes) busy.insert(busy.end(), lane.ran.begin(), lane.ran.end());
    counter(counts, "lanes that run a task", "running", std::move(busy));
  }

  /// From the end of each task to the beginning of its successors, by the newest slice of each: "data" where
  /// the edge carries data, else "order". A lane reads the clock once for each task, so its next task seems
  /// to begin when the last one ended, and a predecessor in another lane of the process may end after that:
  /// the arrow then points to that end.
  void arrows(TraceCounts& counts, std::uint64_t arrows_max) {
    for (const JobGraph::Edge& edge : known_.times.graph().edges()) {
      const auto found_from = slice_of_.find(edge.from), found_to = slice_of_.find(edge.to);
      if (found_from == slice_of_.end() || found_to == slice_of_.end()) continue;
      const Slice &from = found_from->second, &to = found_to->second;
      const bool same_process = from.track.first == to.track.first;
      if (from.end > (same_process ? to.end : to.begin)) {
        ++counts.arrows_backwards;
        continue;
      }
      if (counts.arrows >= arrows_max) {
        ++counts.arrows_beyond;
        continue;
      }
      const std::string id = std::to_string(++counts.arrows);
      // Where a slice ends the next one may begin: an arrow belongs to that within which it starts.
      const char* name = edge.data ? "data" : "order";
      arrow_end("s", name, from.track, std::max(from.begin, from.end - 1), id);
      out_ << ",\"args\":{\"from\":\"" << to_string(edge.from) << "\",\"to\":\"" << to_string(edge.to)
           << "\"}}";
      arrow_end("f", name, to.track, std::max(to.begin, from.end), id);
      out_ << ",\"bp\":\"e\"}";
    }
  }

 private:
  /// How many spans there are at each moment; moments that are close to each other are one.
  void counter(TraceCounts& counts, const std::string& name, const char* value, std::vector<Span> spans) {
    std::vector<std::pair<std::int64_t, int>> steps;
    for (const auto& [from, to] : spans) {
      steps.emplace_back(from, 1);
      steps.emplace_back(to, -1);
    }
    std::sort(steps.begin(), steps.end());
    if (steps.empty()) return;
    const std::int64_t apart = (steps.back().first - steps.front().first) / trace_counts_max;
    std::int64_t now = 0, told_at = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      now += steps[i].second;
      const bool last = i + 1 == steps.size();
      // A value that holds for long is written, however close the point before is.
      if (!last && (steps[i + 1].first == steps[i].first || steps[i + 1].first < told_at + apart)) continue;
      told_at = steps[i].first;
      ++counts.counts;
      next("C", {}, 0, std::max<std::int64_t>(0, told_at - known_.began_unix_ns), name);
      out_ << ",\"args\":{\"" << value << "\":" << now << "}}";
    }
  }
  struct Slice {
    Track track;
    std::int64_t begin = 0, end = 0;
  };
  void arrow_end(const char* kind, const char* name, const Track& track, std::int64_t at,
                 const std::string& id) {
    next(kind, track.first, track.second + 1, at, name);
    out_ << ",\"cat\":\"" << name << "\",\"id\":" << id;
  }
  std::string name_of(TaskId task) const { return known_.names.name_of(task); }
  static std::string microseconds(std::int64_t ns) {
    char text[40];
    std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(ns / 1000),
                  static_cast<int>(ns % 1000));
    return text;
  }
  void open() { out_ << (std::exchange(any_, true) ? ",\n" : "\n"); }
  void describe(const char* what, ProcessId process, std::uint32_t thread, const std::string& name) {
    open();
    out_ << "{\"ph\":\"M\",\"name\":\"" << what << "\",\"pid\":" << process.value << ",\"tid\":" << thread
         << ",\"args\":{\"name\":" << json_string(printable(name)) << "}}";
  }
  /// Up to what its kind has besides.
  void next(const char* kind, ProcessId process, std::uint32_t thread, std::int64_t at,
            const std::string& name) {
    open();
    out_ << "{\"ph\":\"" << kind << "\",\"pid\":" << process.value << ",\"tid\":" << thread
         << ",\"ts\":" << microseconds(at) << ",\"name\":" << json_string(printable(name));
  }

  std::ostream& out_;
  const Known known_;
  const JobId job_;
  std::map<Track, std::int64_t> ended_;
  std::map<TaskId, Slice> slice_of_;
  bool any_ = false;
};

}  // namespace

TraceCounts write_trace(const JournalPaths& journals, JobId job, std::ostream& out,
                        std::vector<std::string>& notices, std::uint64_t arrows_max) {
  Known known = read_names(journals, job);
  TraceCounts counts;
  counts.lanes = known.times.lanes().size();
  counts.unrun = known.names.unrun([&](TaskId task) { return known.times.has_run(task); });
  TraceWriter writer(out, std::move(known), job);
  writer.begin();
  std::set<TaskId> run;
  JournalView view(journals.doing("writing the trace"));
  while (const auto entry = view.next()) {
    if (entry->record.job != job) continue;
    if (const auto* ran = std::get_if<event::Ran>(&entry->record.what)) {
      ++counts.slices;
      run.insert(entry->record.task);
      writer.slice(*entry, *ran);
    } else if (is_mark(entry->record.what)) {
      ++counts.marks;
      writer.mark(*entry);
    }
  }
  writer.arrows(counts, arrows_max);
  writer.counters(counts);
  writer.end(counts);
  counts.tasks_run = run.size();
  notices = view.notices();
  return counts;
}

}  // namespace dag::detail
