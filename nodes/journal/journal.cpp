#include "nodes/journal/journal.hpp"

#include <fcntl.h>
#include <pthread.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>

#include "libdag/journal/event_bytes.hpp"

namespace dag {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view rings_prefix = "rings-";

std::int64_t nanoseconds_of(clockid_t clock) {
  timespec at{};
  clock_gettime(clock, &at);
  return std::int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

/// The head for this process; all processes of this machine share its clock.
JournalHead head_of(Life process) {
  return {process, nanoseconds_of(CLOCK_REALTIME) - nanoseconds_of(CLOCK_MONOTONIC)};
}

std::vector<EventRingReader> readers_of(const EventRings& rings) {
  std::vector<EventRingReader> readers;
  for (std::size_t i = 0; i < rings.count(); ++i) readers.push_back(rings.reader(i));
  return readers;
}

}  // namespace

Journal::Journal(std::string directory, Life self, std::function<void(const std::string&)> log, Files& files,
                 JournalLimits limits)
    : directory_(std::move(directory)), self_(self), log_(std::move(log)), files_(files), limits_(limits) {
  files_.make_directories(directory_);  // If it cannot be, no file can be begun, which is said then.
  std::map<std::uint64_t, std::size_t> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory_, none)) {
    const std::string name = entry.path().filename().string();
    if (const std::uint64_t number = journal_file_number(name); number > 0)
      found[number] = entry.file_size(none);
    if (name.starts_with(rings_prefix)) left_.push_back(entry.path().string());
  }
  for (const auto& [number, size] : found) {
    kept_.emplace_back(directory_ + "/" + journal_file_name(number), size);
    last_number_ = number;
  }
  thread_ = std::thread([this] { run(); });
}

Journal::~Journal() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Journal::record(const JournalEvent& record) {
  const std::lock_guard lock(mutex_);
  if (waiting_.bytes().empty()) changed_.notify_all();  // The thread sleeps as long as nothing happens.
  if (waiting_.bytes().size() < limits_.waiting_bytes_max) {
    one_.clear();
    write_record(one_, record);
    waiting_.count(one_.bytes().size());
    waiting_.append(one_.bytes().data(), one_.bytes().size());
  } else {
    ++dropped_;
  }
}

int Journal::open_rings(Life process, std::size_t lanes, const std::optional<OutputOf>& output) {
  const std::string name = directory_ + "/" + std::string(rings_prefix) +
                           std::to_string(process.process.value) + "-" +
                           std::to_string(process.incarnation.value);
  auto rings = EventRings::make(files_, name, head_of(process), lanes + EventRings::beside_lanes);
  if (!rings) {
    log_("no journal of events in " + to_string(process) + ": " + rings.error().what);
    return -1;
  }
  auto readers = readers_of(*rings);
  const auto source = std::make_shared<Source>(Source{name, std::move(*rings), std::move(readers)});
  if (output) {
    source->printed.emplace(output->file);
    source->job = output->job;
  }
  const std::lock_guard lock(mutex_);
  sources_[process] = source;
  changed_.notify_all();
  return source->rings.descriptor();
}

void Journal::close_rings(Life process) {
  const std::lock_guard lock(mutex_);
  const auto source = sources_.find(process);
  if (source != sources_.end()) source->second->over = true;
}

void Journal::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = ++flushes_asked_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return flushed_ >= mine; });
}

void Journal::run() {
  pthread_setname_np(pthread_self(), "dag-journal");
  write_left();
  Writer records;  // Takes turns with `waiting_`; both keep their memory.
  std::unique_lock lock(mutex_);
  for (bool last = false; !last;) {
    const auto hurries = [this] { return closing_ || flushes_asked_ > flushed_; };
    changed_.wait(lock, [&] { return hurries() || !waiting_.bytes().empty() || !sources_.empty(); });
    changed_.wait_for(lock, limits_.write_every, hurries);
    last = closing_;
    const std::uint64_t asked = flushes_asked_;
    const bool is_flush = asked > flushed_;
    records.clear();
    std::swap(records, waiting_);
    const std::uint64_t dropped = std::exchange(dropped_, 0);
    std::vector<std::shared_ptr<Source>> sources;
    for (const auto& [process, source] : sources_) {
      source->ends = source->over || last;
      sources.push_back(source);
    }
    std::erase_if(sources_, [](const auto& source) { return source.second->ends; });
    lock.unlock();
    write(records.bytes(), dropped);
    for (const auto& source : sources) {
      write_of(*source, is_flush);
      if (source->ends) files_.remove(source->name);
    }
    lock.lock();
    flushed_ = asked;
    changed_.notify_all();
  }
}

/// By processes that were killed with the node that they had. In files of their own, since the machine may
/// have been started again since then, and its clock with it.
void Journal::write_left() {
  for (const std::string& name : left_) {
    if (auto rings = EventRings::open(OwnedFile(open(name.c_str(), O_RDWR | O_CLOEXEC)))) {
      const JournalHead head{self_, rings->head().clock_began_unix_ns};
      try {
        Source source{name, std::move(*rings), {}};
        source.readers = readers_of(source.rings);
        if (begin_file(head)) write_of(source, true);
      } catch (const Failure&) {  // The process was killed while it made them.
      }
      file_.reset();
    }
    files_.remove(name);
  }
  left_.clear();
}

void Journal::write(std::span<const std::byte> records, std::uint64_t dropped) {
  lost_ += dropped;
  for (Reader reader(records); !reader.at_end();) {
    ++in_block_;
    if (writer_.add_encoded(reader.take(reader.count()))) write_block();
  }
  if (!records.empty() || dropped > 0) write_block();
}

void Journal::write_of(Source& source, bool to_the_end) {
  bool any = false;
  for (EventRingReader& reader : source.readers) {
    const std::uint64_t dropped = reader.take([&](std::span<const std::byte> record) {
      any = true;
      ++in_block_;
      if (writer_.add_encoded(record)) write_block();
    });
    lost_ += dropped;
    any = any || dropped > 0;
    if (reader.broken() && !std::exchange(source.said_broken, true))
      log_("the rings of records " + source.name +
           " were overwritten or cut; events of that process are not kept");
  }
  if (source.printed) any = write_printed(source, to_the_end || source.ends) || any;
  if (any) write_block();
  for (EventRingReader& reader : source.readers) reader.done();
}

/// True: there was something. `to_the_end`: reads until there is no more, but does not wait for a process
/// that goes on printing.
bool Journal::write_printed(Source& source, bool to_the_end) {
  constexpr std::size_t passes_max = PrintedOutput::behind_bytes_max / PrintedOutput::take_bytes_max + 1;
  const EventPlace place{source.rings.head().process.process};
  bool any = false;
  for (std::size_t pass = 0; pass < (to_the_end ? passes_max : 1); ++pass) {
    std::vector<event::Printed> pieces = source.printed->take(source.ends);
    if (pieces.empty()) break;
    any = true;
    const Instant now{std::chrono::nanoseconds(nanoseconds_of(CLOCK_MONOTONIC))};
    for (event::Printed& piece : pieces) {
      ++in_block_;
      if (writer_.add({now, place, source.job, {}, {}, std::move(piece)})) write_block();
    }
  }
  return any;
}

void Journal::write_block() {
  const std::vector<std::byte> block = writer_.take_block(lost_);
  if (block.empty()) return;
  lost_ = append(block) ? 0 : lost_ + in_block_;
  in_block_ = 0;
}

bool Journal::append(std::span<const std::byte> bytes) {
  const bool goes_on = file_ && kept_.back().second + bytes.size() <= limits_.file_bytes;
  if ((!goes_on && !begin_file(head_of(self_))) || !files_.write(file_, bytes, kept_.back().second)) {
    if (!std::exchange(fails_, true))
      log_("the journal " + directory_ + " cannot be written: " + strerror(errno) + "; events are not kept");
    file_.reset();  // Whatever of it was written: the next block begins another one.
    return false;
  }
  kept_.back().second += bytes.size();
  if (std::exchange(fails_, false)) log_("the journal " + directory_ + " is written again");
  return true;
}

bool Journal::begin_file(const JournalHead& of) {
  const std::string name = directory_ + "/" + journal_file_name(last_number_ + 1);
  file_ = files_.make(name);
  if (!file_) return false;
  ++last_number_;
  const std::vector<std::byte> head = encode_head(of);
  if (!files_.write(file_, head, 0)) {
    const int problem = errno;
    files_.remove(name);
    errno = problem;
    return false;
  }
  kept_.emplace_back(name, head.size());
  remove_oldest();
  return true;
}

void Journal::remove_oldest() {
  std::size_t bytes = limits_.file_bytes;  // The newest may become as large.
  for (const auto& [name, size] : kept_) bytes += size;
  while (bytes > limits_.all_bytes && kept_.size() > 2) {
    bytes -= kept_.front().second;
    files_.remove(kept_.front().first);
    kept_.erase(kept_.begin());
  }
}

}  // namespace dag
