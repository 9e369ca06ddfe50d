#include "libdag/story/journal_view.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <utility>

#include "libdag/journal/journal.hpp"

namespace dag::detail {
namespace {

namespace fs = std::filesystem;

/// By the alternatives of EventWhat.
constexpr std::array kinds{
    "ready",     "placed",      "lent",         "returned",    "stolen",         "started", "ended",
    "lost",      "retried",     "cancelled",    "settled",     "output_lost",    "spawned", "member",
    "ran",       "became",      "started_over", "rolled_back", "restored",       "crashed", "home_given",
    "recounted", "tasks_known", "job_began",    "job_over",    "finished_tasks", "graph",   "said",
    "printed",   "inputs_came", "saved",        "leads",       "job_verdict"};
static_assert(kinds.size() == std::variant_size_v<EventWhat>);

/// True for the end of a failed task, and for a crash.
bool tells_failure(const EventWhat& what) {
  if (const auto* settled = std::get_if<event::Settled>(&what)) return settled->outcome == Outcome::failed;
  return std::holds_alternative<event::Crashed>(what);
}

/// The task's, where the event has it.
std::string name_in(const EventWhat& what) {
  if (const auto* settled = std::get_if<event::Settled>(&what)) return settled->name;
  if (const auto* said = std::get_if<event::Said>(&what)) return said->name;
  return {};
}

/// By their numbers.
std::deque<fs::path> files_in(const fs::path& directory) {
  std::map<std::uint64_t, fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    const std::uint64_t number = journal_file_number(entry.path().filename().string());
    if (number > 0) found[number] = entry.path();
  }
  std::deque<fs::path> files;
  for (const auto& [number, file] : found) files.push_back(file);
  return files;
}

/// The journals that lie there, each as its files.
std::vector<std::deque<fs::path>> journals_at(const fs::path& path) {
  std::error_code none;
  if (!fs::is_directory(path, none)) {
    if (fs::exists(path, none)) return {{path}};
    return {};
  }
  if (auto files = files_in(path); !files.empty() || path.filename() == "journal") return {std::move(files)};
  if (fs::is_directory(path / "journal", none)) return {files_in(path / "journal")};
  std::vector<fs::path> below;
  for (const auto& entry : fs::directory_iterator(path, none)) {
    if (fs::is_directory(entry.path() / "journal", none)) below.push_back(entry.path() / "journal");
  }
  std::sort(below.begin(), below.end());
  std::vector<std::deque<fs::path>> journals;
  for (const fs::path& one : below) journals.push_back(files_in(one));
  return journals;
}

}  // namespace

JournalLine line_of(const JournalEntry& entry) {
  const JournalEvent& record = entry.record;
  JournalLine line{entry.unix_ns,
                   entry.node,
                   to_string(record.place),
                   record.job,
                   {},
                   {},
                   kinds.at(record.what.index()),
                   to_string(record.what)};
  if (is_about_task(record.what)) line.task = record.task;
  line.failed = tells_failure(record.what);
  line.name = name_in(record.what);
  return line;
}

bool may_matter(const JournalEvent& record, const TaskSelector& which) {
  if ((which.takes_all() && !which.failed) || !is_about_task(record.what)) return true;
  if (std::holds_alternative<event::GraphPart>(record.what)) return which.needs_names();
  if (std::holds_alternative<event::FinishedTasks>(record.what)) {
    bool any = false;
    each_finished(record, [&](const JournalEvent& one) { any = any || may_matter(one, which); });
    return any;
  }
  // By name other events are needed too: they may name a task that failed.
  if (which.failed && !which.needs_names() && !tells_failure(record.what)) return false;
  const std::string name = name_in(record.what);
  if (!name.empty() || !which.needs_names()) return which.takes(record.task, name);
  return !which.range || which.range->holds(record.task);
}

bool LineFilter::takes(const JournalLine& line) const {
  if (line.kind == "graph") return false;  // Edges are no events.
  if (line.kind == "printed" || (tasks.takes_all() && line.kind == "said"))
    return false;  // `dag logs` has those.
  if (job && line.job != *job) return false;
  if (tasks.failed && !line.failed) return false;
  if (tasks.takes_all()) return true;
  return line.task && tasks.takes(*line.task, line.name);
}

/// The journal of one node. What its processes say comes into it a little later than what the node says by
/// itself, and so perhaps into the file behind.
struct JournalView::Source {
  std::deque<fs::path> files;  ///< not read yet
  /// Prefix left out of names in notices: gathered files lie in a temporary directory. May be empty.
  fs::path below;
  std::deque<JournalEntry> entries;  ///< of the two that were read last
  std::size_t of_last = 0;           ///< how many were in the last one
  std::uint64_t all_bytes = 0, read_bytes = 0, entries_read = 0;

  /// Estimated size of the entries that have been returned.
  double told_bytes() const {
    if (entries_read == 0) return 0;
    const auto told = static_cast<double>(entries_read - entries.size());
    return static_cast<double>(read_bytes) * told / static_cast<double>(entries_read);
  }

  /// Until all that is earlier than what the last file says is there.
  void read(std::vector<std::string>& notices) {
    while (entries.size() <= of_last && !files.empty()) {
      const std::string name = name_of(files.front());
      std::ifstream in(files.front(), std::ios::binary);
      files.pop_front();
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      read_bytes += text.size();
      std::vector<JournalEvent> records;
      const auto read = read_journal(std::as_bytes(std::span(text)), [&](const JournalEvent& record) {
        if (std::holds_alternative<event::FinishedTasks>(record.what)) {
          each_finished(record, [&](const JournalEvent& one) { records.push_back(one); });
        } else {
          records.push_back(record);
        }
      });
      if (!read) {
        notices.push_back(name + " is left out: " + read.error().what);
        continue;
      }
      of_last = records.size();
      entries_read += of_last;
      add(read->head, std::move(records));
      say_losses(*read, name, notices);
    }
  }

  /// Their order is found first: an event is large, and would be moved twenty times.
  void add(const JournalHead& head, std::vector<JournalEvent> records) {
    std::vector<std::pair<std::int64_t, std::size_t>> order;
    order.reserve(records.size());
    for (const JournalEvent& record : records)
      order.emplace_back(head.clock_began_unix_ns + record.at.since_start.count(), order.size());
    std::sort(order.begin(), order.end());
    std::deque<JournalEntry> before = std::exchange(entries, {});
    const auto take_until = [&](std::int64_t unix_ns) {
      for (; !before.empty() && before.front().unix_ns <= unix_ns; before.pop_front())
        entries.push_back(std::move(before.front()));
    };
    for (const auto& [unix_ns, index] : order) {
      take_until(unix_ns);
      entries.push_back({unix_ns, head.process, std::move(records[index])});
    }
    take_until(std::numeric_limits<std::int64_t>::max());
  }

  std::string name_of(const fs::path& file) const {
    return below.empty() ? file.string() : file.lexically_relative(below).string();
  }

  static void say_losses(const JournalRead& read, const std::string& name,
                         std::vector<std::string>& notices) {
    for (const JournalGap& gap : read.gaps)
      notices.push_back(name + ": " + std::to_string(gap.size_bytes) + " bytes from " +
                        std::to_string(gap.offset) + " on cannot be read");
    if (read.torn_bytes > 0)
      notices.push_back(name + ": its last " + std::to_string(read.torn_bytes) +
                        " bytes cannot be read: they were being written, or the file was cut off");
    if (read.dropped > 0)
      notices.push_back(name + ": " + std::to_string(read.dropped) +
                        " records were dropped when it was written");
    if (read.unreadable > 0)
      notices.push_back(name + ": " + std::to_string(read.unreadable) +
                        " records of processes of jobs cannot be read");
  }
};

JournalView::JournalView(const JournalPaths& journals) : on_progress_(journals.on_progress) {
  for (const std::string& path : journals.paths) {
    auto found = journals_at(path);
    if (found.empty()) {
      throw Failure({ErrorCode::usage, "there is no journal in " + path,
                     "name the data or state directory of a node, or a file journal-N in it"});
    }
    std::error_code problem;
    const bool alone = journals.paths.size() == 1 && fs::is_directory(path, problem);
    for (auto& files : found) {
      sources_.push_back(
          std::make_unique<Source>(Source{std::move(files), alone ? fs::path(path) : "", {}, 0}));
      Source& source = *sources_.back();
      for (const fs::path& file : source.files) {
        const std::uintmax_t size = fs::file_size(file, problem);
        if (!problem) source.all_bytes += size;
      }
      if (source.files.size() > 1 && source.files.front().filename() != journal_file_name(1))
        notices_.push_back(source.name_of(source.files.front()) +
                           " is the oldest file: older ones were deleted to make room");
    }
  }
}
JournalView::~JournalView() = default;

std::optional<JournalEntry> JournalView::next() {
  constexpr std::uint64_t told_every = 10'000;
  if (on_progress_ && told_++ % told_every == 0) tell_progress();
  Source* earliest = nullptr;
  for (const auto& source : sources_) {
    source->read(notices_);
    if (source->entries.empty()) continue;
    if (earliest == nullptr || source->entries.front().unix_ns < earliest->entries.front().unix_ns)
      earliest = source.get();
  }
  if (earliest == nullptr) return std::nullopt;
  JournalEntry entry = std::move(earliest->entries.front());
  earliest->entries.pop_front();
  return entry;
}

void JournalView::tell_progress() {
  double all = 0, told = 0;
  for (const auto& source : sources_) {
    all += static_cast<double>(source->all_bytes);
    told += source->told_bytes();
  }
  on_progress_("reading the journals", all > 0 ? std::min(told / all, 1.0) : 0);
}

LineSearch::LineSearch(JournalView& view, LineFilter filter) : view_(view), filter_(std::move(filter)) {}

std::optional<JournalLine> LineSearch::next() {
  while ((entry_ = view_.next())) {
    JournalLine line = line_of(*entry_);
    if (filter_.job && line.job != *filter_.job) continue;
    if (filter_.tasks.needs_names()) {
      TaskNames& names = names_[line.job];
      names.add(entry_->record);
      if (line.task && line.name.empty()) {
        if (const auto index = names.index_of(*line.task)) line.name = names.names()[*index];
      }
    }
    if (filter_.takes(line)) return line;
  }
  return std::nullopt;
}

}  // namespace dag::detail
