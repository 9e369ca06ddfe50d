#include "libdag/log/log_machine.hpp"

#include "libdag/base/check.hpp"

namespace dag::log {

LogMachine::LogMachine(const SegmentHead& identity, const LogOptions& options, const Position& at)
    : identity_(identity), options_(options), at_(at) {
  DAG_CHECK(options.segment_bytes >= head_bytes + record_overhead_bytes && options.segment_bytes % 8 == 0);
  DAG_CHECK(options.segment_bytes <= std::uint32_t(-1));
}

std::size_t LogMachine::payload_bytes_max() const {
  return options_.segment_bytes - head_bytes - record_overhead_bytes;
}

std::uint64_t LogMachine::append(const Record& record) {
  DAG_CHECK(record.payload.size() <= payload_bytes_max());
  waiting_.push_back({record, {record.payload.begin(), record.payload.end()}});
  waiting_.back().record.payload = waiting_.back().payload;
  waiting_bytes_ += record_bytes(record.payload.size());
  return ++appended_;
}

std::optional<Batch> LogMachine::next_batch() {
  if (end_ || waiting_.empty()) return std::nullopt;
  Position end = at_;
  Batch batch{at_.segment, at_.offset, {}};
  const bool fits = at_.segment != 0 &&
                    at_.offset + record_bytes(waiting_.front().payload.size()) <= options_.segment_bytes;
  if (!fits) {
    SegmentHead head = identity_;
    head.number = at_.segment + 1;
    head.chain = at_.chain;
    end = begin_of(head);
    batch = {head.number, 0, encode_head(head)};
  }
  const std::size_t begin = end.offset;
  std::size_t behind = begin;
  for (const Waiting& one : waiting_) {
    const std::size_t bytes = record_bytes(one.payload.size());
    if (behind + bytes > options_.segment_bytes) break;
    if (taken_ > 0 && behind + bytes - begin > options_.batch_bytes_max) break;
    behind += bytes;
    ++taken_;
  }
  batch.bytes.reserve(batch.bytes.size() + behind - begin);
  for (std::size_t i = 0; i < taken_; ++i) encode(waiting_[i].record, begin, end, batch.bytes);
  end_ = end;
  return batch;
}

std::uint64_t LogMachine::on_written() {
  DAG_CHECK(end_);
  at_ = *end_;
  end_.reset();
  written_ += taken_;
  for (; taken_ > 0; --taken_) {
    waiting_bytes_ -= record_bytes(waiting_.front().payload.size());
    waiting_.pop_front();
  }
  return written_;
}

void LogMachine::on_full() {
  DAG_CHECK(end_);
  end_.reset();
  taken_ = 0;
}

}  // namespace dag::log
