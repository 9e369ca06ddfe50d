#include "libdag/outputs/borrowed.hpp"

#include <algorithm>

namespace dag {
namespace {

struct OfOther final : Blob::Owner {
  OfOther(std::shared_ptr<const Segment> in, std::function<void()> then)
      : segment(std::move(in)), given_back(std::move(then)) {}
  ~OfOther() override { given_back(); }
  std::shared_ptr<const Segment> segment;
  std::function<void()> given_back;
};

}  // namespace

Result<Blob> Borrowed::open(Life owner, const ring::SharedBytes& where, std::function<void()> given_back) {
  if (where.size_bytes < Blob::large_bytes_min || where.size_bytes > where.capacity_bytes ||
      where.capacity_bytes > Segment::capacity_bytes_max) {
    return Error{ErrorCode::value_invalid, "an output of " + std::to_string(where.size_bytes) +
                                               " bytes in a segment of " +
                                               std::to_string(where.capacity_bytes)};
  }
  auto at = std::find_if(mapped_.begin(), mapped_.end(), [&](const Mapped& one) {
    return one.owner == owner && one.segment->nonce() == where.nonce &&
           one.segment->capacity_bytes() == where.capacity_bytes;
  });
  if (at == mapped_.end()) {
    Result<Segment> segment = Segment::open(where.process, where.file, where.nonce, where.capacity_bytes);
    if (!segment) return segment.error();
    at = mapped_.insert(mapped_.end(), {owner, std::make_shared<const Segment>(std::move(*segment))});
  } else {
    mapped_.splice(mapped_.end(), mapped_, at);
  }
  Blob blob = Blob::adopt(at->segment->bytes(), where.size_bytes,
                          std::make_unique<OfOther>(at->segment, std::move(given_back)));
  drop_idle();
  return blob;
}

void Borrowed::forget(Life owner) {
  std::erase_if(mapped_, [&](const Mapped& one) { return one.owner == owner; });
}

void Borrowed::drop_idle() {
  const auto idle = [](const Mapped& one) { return one.segment.use_count() == 1; };
  std::size_t count = 0, bytes = 0;
  for (auto at = mapped_.rbegin(); at != mapped_.rend(); ++at) {
    if (!idle(*at)) continue;
    ++count;
    bytes += at->segment->capacity_bytes();
  }
  for (auto at = mapped_.begin(); at != mapped_.end() && (count > idle_max || bytes > idle_bytes_max);) {
    if (!idle(*at)) {
      ++at;
      continue;
    }
    --count;
    bytes -= at->segment->capacity_bytes();
    at = mapped_.erase(at);
  }
}

}  // namespace dag
