#include "actors/lanes/shared_outputs.hpp"

#include <utility>

namespace dag {

std::optional<ring::HandOver> SharedOutputs::lend(Life reader, const Blob& bytes) {
  const std::optional<ring::SharedBytes> where = arena::find(bytes);
  if (!where) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (over_.contains(reader)) return std::nullopt;
  const std::uint64_t number = of_lanes | ++last_number_;
  lent_[reader].emplace(number, bytes);
  return ring::HandOver{number, *where};
}

void SharedOutputs::take_back(Life reader, std::uint64_t number) {
  Blob back;  // Destroyed outside the lock: its segment may be unmapped.
  const std::lock_guard lock(mutex_);
  const auto of_reader = lent_.find(reader);
  if (of_reader == lent_.end()) return;
  if (auto found = of_reader->second.extract(number)) back = std::move(found.mapped());
}

Result<Blob> SharedOutputs::open(Life owner, const ring::SharedBytes& where,
                                 std::function<void()> given_back) {
  const std::lock_guard lock(mutex_);
  return borrowed_.open(owner, where, std::move(given_back));
}

void SharedOutputs::forget(Life peer) {
  std::map<std::uint64_t, Blob> back;
  const std::lock_guard lock(mutex_);
  if (const auto found = lent_.find(peer); found != lent_.end()) {
    back.swap(found->second);
    lent_.erase(found);
  }
  borrowed_.forget(peer);
  over_.insert(peer);
}

}  // namespace dag
