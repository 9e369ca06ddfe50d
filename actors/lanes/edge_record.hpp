#pragma once
// EdgeNews (libdag/home/edge_news.hpp) as a record of a ring: a head of fixed size, then the output's bytes.
// Both ends are the same binary on one host, so numbers are as they lie in memory.

#include <cstring>
#include <optional>

#include "libdag/home/edge_news.hpp"
#include "libdag/ring/ring.hpp"

namespace dag {

/// All bits of it are said.
struct EdgeRecord {
  static constexpr std::uint16_t kind = 1;

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

/// Nothing: no lane wrote this.
inline std::optional<EdgeNews> news_in(const ring::Record& record) {
  EdgeRecord head;
  if (record.kind != EdgeRecord::kind || record.bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, record.bytes.data(), sizeof head);
  const auto value = record.bytes.subspan(sizeof head);
  if (head.has_value > 1 || head.zero != 0 || (head.has_value == 0 && !value.empty())) return std::nullopt;
  return EdgeNews{{head.job},
                  head.shard,
                  {head.term, head.count},
                  head.from,
                  {head.from_term, head.from_count},
                  head.task,
                  head.attempt,
                  head.has_value == 1 ? Blob(value) : Blob()};
}

}  // namespace dag
