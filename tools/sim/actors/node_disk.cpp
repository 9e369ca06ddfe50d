#include "tools/sim/actors/node_disk.hpp"

#include "tools/sim/result.hpp"

namespace dag::sim {

void NodeDisk::add(const log::Record& record) {
  Kept kept{record, {record.payload.begin(), record.payload.end()}};
  records_.push_back(std::move(kept));
  records_.back().record.payload = records_.back().bytes;
}

NodeDisk::Found NodeDisk::start() {
  consensus::StoredLogs logs;
  for (const Kept& kept : records_) {
    if (const Status taken = logs.take(kept.record); !taken)
      throw Violation("a node's log is damaged that nothing has damaged: " + taken.error().what);
  }
  Found found{{}, logs.forgotten()};
  auto stored = logs.release();
  if (!stored) throw Violation("a node's log has lost a beginning: " + stored.error().what);
  logs_ = found.logs = std::move(*stored);
  return found;
}

void NodeDisk::write(JobId job, const consensus::StoredChange& change, std::function<void()> written) {
  consensus::Stored& log = logs_[job];
  log.put(change);
  consensus::each_record(job, change, log, [this](const log::Record& record) { add(record); });
  waiting_.push_back({records_.size(), std::move(written)});
}

void NodeDisk::forget(JobId job) {
  logs_.erase(job);
  add(consensus::tombstone(job));
}

bool NodeDisk::begin_batch() {
  if (batch_until_ > written_ || records_.size() == written_) return false;
  batch_until_ = records_.size();
  return true;
}

void NodeDisk::end_batch() {
  written_ = batch_until_;
  while (!waiting_.empty() && waiting_.front().until <= written_) {
    const Waiting done = std::move(waiting_.front());
    waiting_.pop_front();
    done.written();
  }
}

void NodeDisk::crash(Random& random) {
  if (batch_until_ > written_) written_ += random.below(batch_until_ - written_ + 1);
  batch_until_ = written_;
  records_.resize(written_);
  waiting_.clear();
}

}  // namespace dag::sim
