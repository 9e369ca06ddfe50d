#include "nodes/disk/store.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "libdag/base/check.hpp"
#include "libdag/base/overloaded.hpp"
#include "libdag/consensus/records.hpp"

namespace dag {

using consensus::Entry;
using consensus::Snapshot;
using consensus::Stored;
using consensus::StoredChange;
using consensus::StoredEntries;
using consensus::Vote;

namespace {

/// Callers refuse larger commands, so a command always fits into a segment.
static_assert(consensus::command_bytes_max <=
              log::LogOptions{}.segment_bytes - log::head_bytes - log::record_overhead_bytes);

constexpr auto pause_when_full = std::chrono::milliseconds(100);

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// Bytes of the change's records, without those of configurations.
std::size_t size_of(const StoredChange& change) {
  return std::visit(
      Overloaded{[](const Vote&) { return log::record_bytes(0); },
                 [](const StoredEntries& more) {
                   std::size_t size_bytes = 0;
                   for (const Entry& entry : more.entries)
                     size_bytes += log::record_bytes(entry.command.size_bytes());
                   return size_bytes;
                 },
                 [](const Snapshot& snapshot) { return log::record_bytes(snapshot.state.size_bytes()); }},
      change);
}

/// Bytes of writing all of it again.
std::size_t size_of(const Stored& log) {
  if (!log.snapshot) return size_of(StoredChange(log.vote));
  std::size_t size_bytes = size_of(StoredChange(*log.snapshot));
  for (const Entry& entry : log.entries) size_bytes += log::record_bytes(entry.command.size_bytes());
  return size_bytes;
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::filesystem::path& directory,
                                           const log::LogOptions& options,
                                           std::function<void(bool full)> on_full, Files& changes) {
  consensus::StoredLogs logs;
  Status sound = Done{};
  const auto take = [&](const log::Record& record, std::uint64_t segment) {
    if (sound) sound = logs.take(record, segment);
  };
  auto files = SegmentFiles::open(directory, options, take, changes);
  if (!files) return files.error();
  if (!sound) return sound.error();
  Found found{{}, logs.segments_needed(), logs.forgotten(), logs.forgotten_segment()};
  auto of_jobs = logs.release();
  if (!of_jobs) return of_jobs.error();
  found.logs = std::move(*of_jobs);
  return std::unique_ptr<Store>(new Store(std::move(*files), options, std::move(on_full), std::move(found)));
}

Store::Store(std::unique_ptr<SegmentFiles> files, const log::LogOptions& options,
             std::function<void(bool full)> on_full, Found found)
    : files_(std::move(files)),
      options_(options),
      on_full_(std::move(on_full)),
      found_(std::move(found.logs)),
      forgotten_at_start_(found.forgotten),
      machine_(files_->identity(), options, files_->end()),
      logs_(found_),
      retention_(options),
      forgotten_(std::move(found.forgotten)),
      forgotten_segment_(found.forgotten_segment) {
  for (const auto& [job, log] : logs_) retention_.on_size(job, size_of(log));
  for (const auto& [job, segment] : found.needed) retention_.on_needed(job, segment);
  thread_ = std::thread([this] { run(); });
}

Store::~Store() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Store::write(JobId job, StoredChange change, std::function<void()> written) {
  if (const auto* more = std::get_if<StoredEntries>(&change)) {
    DAG_CHECK(!more->entries.empty());
    for (const Entry& entry : more->entries)
      DAG_CHECK(entry.command.size_bytes() <= machine_.payload_bytes_max());
  }
  const std::size_t size_bytes = size_of(change);
  hand_over({job, std::move(change), std::move(written), size_bytes});
}

void Store::forget(JobId job) { hand_over({job, std::nullopt, {}, log::record_bytes(0)}); }

void Store::hand_over(Order order) {
  if (waiting_bytes_ == 0)
    moved_at_ = now_ns();  // First: a concurrent reader then finds no greater lag than there is.
  waiting_bytes_ += order.size_bytes;
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back(std::move(order));
  }
  changed_.notify_all();
}

// ---- The thread

void Store::run() {
  pthread_setname_np(pthread_self(), "dag-store");
  release();  // Segments that an earlier life could not release.
  for (;;) {
    if (take_orders()) write_again();
    if (const auto batch = machine_.next_batch()) {
      if (write_batch(*batch)) continue;
      std::unique_lock lock(mutex_);
      if (stopping_) return;
      changed_.wait_for(lock, pause_when_full, [this] { return stopping_; });
      continue;
    }
    prepare();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !orders_.empty(); });
    if (orders_.empty()) return;
  }
}

/// Takes as many as the next batch can hold: the rest need not lie in memory twice. True: there were any.
bool Store::take_orders() {
  bool any = false;
  while (machine_.waiting_bytes() < options_.batch_bytes_max) {
    Order order;
    {
      const std::lock_guard lock(mutex_);
      if (orders_.empty()) break;
      order = std::move(orders_.front());
      orders_.pop_front();
    }
    append(std::move(order));
    any = true;
  }
  return any;
}

void Store::append(Order order) {
  if (is_late(order)) {
    waiting_bytes_ -= order.size_bytes;
    return;
  }
  UnderWay one;
  const auto append = [&](const log::Record& record) {
    one.last = machine_.append(record);
    if (one.first == 0) one.first = one.last;
  };
  if (order.change) {
    const auto* snapshot = std::get_if<Snapshot>(&*order.change);
    keep(order.job, *order.change);
    const Stored& log = logs_.at(order.job);
    consensus::each_record(order.job, *order.change, log, append);
    one.all_needed = snapshot != nullptr || !log.snapshot;
  } else {
    logs_.erase(order.job);
    retention_.on_forgotten(order.job);
    forgotten_.insert(order.job.value);
    append(consensus::tombstone(order.job));
    one.forgotten = true;
  }
  one.job = order.job;
  one.written = std::move(order.written);
  one.size_bytes = order.size_bytes;
  under_way_.push_back(std::move(one));
}

void Store::keep(JobId job, const StoredChange& change) {
  Stored& log = logs_[job];
  const auto* more = std::get_if<StoredEntries>(&change);
  const auto* snapshot = std::get_if<Snapshot>(&change);
  DAG_CHECK(snapshot == nullptr || !log.snapshot || snapshot->index >= log.snapshot->index);
  const bool only_more =
      more != nullptr && log.snapshot && more->from == log.snapshot->index + log.entries.size() + 1;
  log.put(change);
  only_more ? retention_.on_more(job, size_of(change)) : retention_.on_size(job, size_of(log));
}

/// Writes the stored state again: for replicas nothing changes.
void Store::write_again() {
  for (const JobId job : retention_.take_to_write_again(machine_.position().segment)) {
    const Stored& log = logs_.at(job);
    UnderWay one;
    one.job = job;
    one.all_needed = true;
    consensus::each_record(job, log.snapshot ? StoredChange(*log.snapshot) : StoredChange(log.vote), log,
                           [&](const log::Record& record) {
                             one.last = machine_.append(record);
                             if (one.first == 0) one.first = one.last;
                           });
    under_way_.push_back(std::move(one));
  }
}

/// Entries of a job that was forgotten while they were on their way: the thread that writes them is another
/// than the one that ends the job. Nobody needs them.
bool Store::is_late(const Order& order) const {
  if (!order.change || !std::holds_alternative<StoredEntries>(*order.change)) return false;
  const auto log = logs_.find(order.job);
  return forgotten_.contains(order.job.value) && (log == logs_.end() || !log->second.snapshot);
}

/// False: the disk is full.
bool Store::write_batch(const log::Batch& batch) {
  const Status written = files_->write(batch);
  longest_lag_ns_ = std::max(longest_lag_ns_.load(), lag().count());
  moved_at_ = now_ns();
  if (!written) {
    if (written.error().code != ErrorCode::disk_full) {
      std::fprintf(stderr, "dag: %s; the log of this node cannot go on, and this process ends\n",
                   written.error().what.c_str());
      std::abort();
    }
    machine_.on_full();
    set_full(true);
    return false;
  }
  set_full(false);
  on_written(batch.segment);
  return true;
}

/// A batch is: all its records lie in this segment.
void Store::on_written(std::uint64_t segment) {
  const std::uint64_t written = machine_.on_written();
  std::deque<UnderWay> done;
  for (UnderWay& one : under_way_) {
    if (one.first > written) break;
    if (one.segment == 0) one.segment = segment;
  }
  while (!under_way_.empty() && under_way_.front().last <= written) {
    const UnderWay& one = under_way_.front();
    if (one.all_needed) retention_.on_needed(one.job, one.segment);
    if (one.forgotten) retention_.on_unneeded(one.job);
    if (one.all_forgotten || (one.forgotten && !forgotten_segment_)) forgotten_segment_ = one.segment;
    done.push_back(std::move(under_way_.front()));
    under_way_.pop_front();
  }
  say_forgotten_again();
  release();
  for (const UnderWay& one : done) {
    waiting_bytes_ -= one.size_bytes;
    if (one.written) one.written();
  }
}

/// Repeats the list of forgotten jobs, so that its old segment is not kept for it alone.
void Store::say_forgotten_again() {
  if (!forgotten_segment_ || *forgotten_segment_ == machine_.position().segment) return;
  if (std::any_of(under_way_.begin(), under_way_.end(),
                  [](const UnderWay& one) { return one.all_forgotten; }))
    return;
  UnderWay one;
  consensus::forgotten_record(
      forgotten_, [&](const log::Record& record) { one.first = one.last = machine_.append(record); });
  one.all_forgotten = true;
  under_way_.push_back(std::move(one));
}

/// Orders under way lie behind all that is done, so they need nothing older.
void Store::release() {
  std::uint64_t oldest = machine_.position().segment;
  if (const auto needed = retention_.oldest()) oldest = std::min(oldest, *needed);
  if (forgotten_segment_) oldest = std::min(oldest, *forgotten_segment_);
  files_->release_before(oldest);
}

Duration Store::lag() const {
  if (waiting_bytes_ == 0 || full_) return Duration{0};
  return Duration(std::max<std::int64_t>(now_ns() - moved_at_, 0));
}

Duration Store::take_longest_lag() { return std::max(Duration(longest_lag_ns_.exchange(0)), lag()); }

void Store::set_full(bool full) {
  if (full_.exchange(full) != full && on_full_) on_full_(full);
}

/// Makes the next segment's file while there is nothing else to do; once for each segment, since a disk that
/// is nearly full would be filled again and again.
void Store::prepare() {
  const std::uint64_t last = machine_.position().segment;
  if (last == prepared_behind_) return;
  prepared_behind_ = last;
  (void)files_->prepare();  // If there is no room now, the next segment's first batch will say so.
}

}  // namespace dag
