#include "libdag/job/edge_news.hpp"

namespace dag {

message::PredecessorEnded as_message(EdgeNews news, std::size_t digest_bytes_max) {
  message::PredecessorEnded message;
  message.job = news.job;
  message.shard = news.shard;
  message.epoch = news.epoch;
  message.from = news.from;
  message.from_epoch = news.from_epoch;
  message.change = 0;
  OutcomeRecord& record = message.record;
  record.task = {0, news.task};
  record.attempt = {news.from_epoch, news.attempt};
  record.outcome = Outcome::finished;
  record.has_output = static_cast<bool>(news.value);
  record.size_bytes = news.value.size_bytes();
  record.digest = digest_if_quick(news.value, digest_bytes_max);
  record.value = std::move(news.value);
  return message;
}

std::optional<EdgeNews> told_by_lane(message::PredecessorEnded& message) {
  OutcomeRecord& record = message.record;
  if (message.change != 0 || record.outcome != Outcome::finished || record.task.origin != 0 ||
      record.attempt.epoch != message.from_epoch || record.has_output != static_cast<bool>(record.value)) {
    return std::nullopt;
  }
  return EdgeNews{message.job,        message.shard,     message.epoch,         message.from,
                  message.from_epoch, record.task.index, record.attempt.number, std::move(record.value)};
}

message::PredecessorEnded as_message_without(EdgeNews news, std::uint64_t size_bytes, Life owner) {
  message::PredecessorEnded message = as_message(std::move(news));
  message.record.has_output = true;
  message.record.size_bytes = size_bytes;
  message.holders = {owner};
  return message;
}

}  // namespace dag
