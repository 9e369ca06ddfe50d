#include "tools/sim/sim_disk.hpp"

#include "libdag/consensus/records.hpp"
#include "libdag/log/recovery.hpp"
#include "tools/sim/result.hpp"

namespace dag::sim {
namespace {

constexpr JobId job{1};
constexpr log::LogOptions options{log::head_bytes + 12 * 1024, 4096};
constexpr std::size_t sector_bytes = 512;

/// Equal except for the content of commands and states.
bool same(const consensus::Stored& one, const consensus::Stored& other) {
  return one.vote == other.vote && one.snapshot.has_value() == other.snapshot.has_value() &&
         (!one.snapshot || (one.snapshot->index == other.snapshot->index &&
                            one.snapshot->configuration == other.snapshot->configuration)) &&
         std::equal(one.entries.begin(), one.entries.end(), other.entries.begin(), other.entries.end(),
                    [](const auto& a, const auto& b) { return a.term == b.term && a.type == b.type; });
}

}  // namespace

SimDisk::SimDisk(std::uint64_t id)
    : id_(id),
      identity_{id, id, 0, 0},
      machine_(std::make_unique<log::LogMachine>(identity_, options, log::Position{})) {}

void SimDisk::append(std::uint64_t number, const consensus::StoredChange& change) {
  std::uint64_t first = 0, last = 0;
  appended_.put(change);
  consensus::each_record(job, change, appended_, [&](const log::Record& record) {
    last = machine_->append(record);
    if (first == 0) first = last;
  });
  waiting_.push_back({number, first, last, change});
}

bool SimDisk::begin_batch() {
  if (batch_) return false;
  batch_begins_ = machine_->position();
  batch_ = machine_->next_batch();
  return batch_.has_value();
}

/// The bytes of the batch under way, or of some of its sectors, as chance has it.
void SimDisk::write(Random* tears) {
  std::vector<std::byte>& segment = segments_[batch_->segment];
  segment.resize(options.segment_bytes);
  const bool in_order = tears != nullptr && tears->chance(0.5);
  const std::size_t reached = in_order ? tears->below(batch_->bytes.size() + 1) : batch_->bytes.size();
  for (std::size_t at = 0; at < reached;) {
    const std::size_t end =
        (batch_->offset + at) / sector_bytes * sector_bytes + sector_bytes - batch_->offset;
    const std::size_t until = std::min(end, reached);
    if (tears == nullptr || in_order || tears->chance(0.5)) {
      std::copy(batch_->bytes.begin() + static_cast<std::ptrdiff_t>(at),
                batch_->bytes.begin() + static_cast<std::ptrdiff_t>(until),
                segment.begin() + static_cast<std::ptrdiff_t>(batch_->offset + at));
    }
    at = until;
  }
}

std::uint64_t SimDisk::end_batch() {
  write(nullptr);
  batch_.reset();
  sealed_ = batch_begins_;
  const std::uint64_t written = machine_->on_written();
  for (; !waiting_.empty() && waiting_.front().last <= written; waiting_.pop_front()) {
    number_ = waiting_.front().number;
    stored_.put(waiting_.front().change);
  }
  return number_;
}

void SimDisk::put(const consensus::StoredChange& change) {
  append(number_ + 1, change);
  while (begin_batch()) end_batch();
}

void SimDisk::crash(Random& random) {
  const bool begun = !waiting_.empty() && waiting_.front().first <= machine_->written();
  torn_ = batch_.has_value() || begun;
  if (batch_) write(&random);
  batch_.reset();
  waiting_.clear();
  number_ = 0;
  // More of that batch may be there than was said to be.
  if (!start()) throw Violation("a log is damaged that nothing has damaged");
}

bool SimDisk::rot(Random& random) {
  std::vector<std::pair<std::uint64_t, std::size_t>> written;  // segment, and where its records end
  for (const auto& [number, bytes] : segments_) {
    if (number > sealed_.segment) break;
    const bool last = number == sealed_.segment;
    written.emplace_back(number, last ? sealed_.offset : options.segment_bytes);
  }
  if (written.empty()) return false;
  const auto [number, end] = written[random.below(written.size())];
  std::vector<std::byte>& segment = segments_[number];
  segment[random.below(end)] ^= std::byte{1} << random.below(8);
  return true;
}

std::optional<consensus::Stored> SimDisk::start() {
  log::Recovery recovery;
  consensus::StoredLogs logs;
  bool sound = true;
  for (auto at = segments_.begin(); at != segments_.end();) {
    const auto head = log::read_head(at->second);
    if (std::next(at) == segments_.end() && !head && log::has_no_head(at->second)) {
      at = segments_.erase(at);  // Its first batch was torn.
      continue;
    }
    sound = sound && head && recovery.take(*head, at->second, [&](const log::Record& record) {
      sound = sound && logs.take(record);
    });
    if (!sound) return std::nullopt;
    ++at;
  }
  if (recovery.remains()) {
    std::vector<std::byte>& last = segments_[recovery.end().segment];
    std::fill(last.begin() + static_cast<std::ptrdiff_t>(recovery.end().offset), last.end(), std::byte{0});
  }
  machine_ = std::make_unique<log::LogMachine>(identity_, options, recovery.end());
  auto found = logs.release();
  if (!found) return std::nullopt;
  if (!torn_ && !same((*found)[job], stored_)) {
    throw Violation("a log reads otherwise than it was written");
  }
  torn_ = false;
  appended_ = stored_ = std::move((*found)[job]);
  return stored_;
}

}  // namespace dag::sim
