#pragma once
// EdgeNews (libdag/job/edge_news.hpp) as a record of a ring: a head of fixed size, then the output's bytes,
// or where they lie. Both ends are the same binary on one host, so numbers are as they lie in memory.

#include <cstring>
#include <optional>

#include "libdag/job/edge_news.hpp"
#include "libdag/ring/messages.hpp"
#include "libdag/ring/ring.hpp"

namespace dag {

/// Every bit is initialized: the bytes are copied into a ring.
struct EdgeRecord {
  static constexpr std::uint16_t kind = 1, kind_handed_over = 2;

  std::uint64_t job = 0;
  std::uint32_t shard = 0;
  std::uint32_t term = 0, count = 0;
  std::uint32_t from = 0;
  std::uint32_t from_term = 0, from_count = 0;
  std::uint32_t task = 0;
  std::uint32_t attempt = 0;
  std::uint32_t has_value = 0;
  std::uint32_t zero = 0;
};
static_assert(sizeof(EdgeRecord) % ring::word_bytes == 0);
static_assert(std::has_unique_object_representations_v<EdgeRecord>);

inline EdgeRecord record_of(const EdgeNews& news) {
  return {news.job.value,        news.shard, news.epoch.term,
          news.epoch.count,      news.from,  news.from_epoch.term,
          news.from_epoch.count, news.task,  news.attempt,
          news.value ? 1u : 0u,  0};
}

/// Follows the head where the output is not copied. Every bit is initialized.
struct HandOverRecord {
  std::uint64_t number = 0;
  std::uint64_t nonce = 0, capacity_bytes = 0, size_bytes = 0;
  std::int32_t process = 0, file = 0;
};
static_assert(sizeof(HandOverRecord) % ring::word_bytes == 0);
static_assert(std::has_unique_object_representations_v<HandOverRecord>);

inline HandOverRecord record_of(const ring::HandOver& over) {
  const ring::SharedBytes& where = over.where;
  return {over.number, where.nonce, where.capacity_bytes, where.size_bytes, where.process, where.file};
}

/// `over`: the location of the output that `news` lacks.
struct ReadNews {
  EdgeNews news;
  std::optional<ring::HandOver> over;
};

/// Nothing: the record was not written by a lane.
inline std::optional<ReadNews> news_in(const ring::Record& record) {
  EdgeRecord head;
  const bool over = record.kind == EdgeRecord::kind_handed_over;
  if ((record.kind != EdgeRecord::kind && !over) || record.bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, record.bytes.data(), sizeof head);
  const auto value = record.bytes.subspan(sizeof head);
  if (head.has_value > 1 || head.zero != 0 || (head.has_value == 0 && !value.empty())) return std::nullopt;
  std::optional<ReadNews> read = ReadNews{{{head.job},
                                           head.shard,
                                           {head.term, head.count},
                                           head.from,
                                           {head.from_term, head.from_count},
                                           head.task,
                                           head.attempt,
                                           {}},
                                          std::nullopt};
  if (over) {
    HandOverRecord lies;
    if (head.has_value == 0 || value.size() != sizeof lies) return std::nullopt;
    std::memcpy(&lies, value.data(), sizeof lies);
    read->over = {lies.number, {lies.process, lies.file, lies.nonce, lies.capacity_bytes, lies.size_bytes}};
  } else if (head.has_value == 1) {
    read->news.value = Blob(value);
  }
  return read;
}

}  // namespace dag
