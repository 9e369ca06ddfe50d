#include "libdag/journal/graph_part.hpp"

namespace dag {
namespace {

constexpr std::uint64_t end_of_task = 0;
/// In the place of a kind, which follows. Parts that were written before there was this have only the others,
/// and are read as if something went along with every edge.
constexpr std::uint8_t order_only = 3;

std::uint64_t zigzag(std::int64_t number) {
  return (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
}
std::int64_t unzigzag(std::uint64_t number) {
  return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
}

/// None: there is no whole number there.
std::optional<std::uint64_t> take(const std::vector<std::uint8_t>& from, std::size_t& at) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; at < from.size() && shift < 64; shift += 7) {
    const std::uint8_t byte = from[at++];
    number |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

}  // namespace

void GraphPartWriter::put(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) part_.packed.push_back(static_cast<std::uint8_t>(number | 0x80));
  part_.packed.push_back(static_cast<std::uint8_t>(number));
}

void GraphPartWriter::begin() {
  const auto [found, fresh] = name_index_.try_emplace(name_, static_cast<std::uint32_t>(part_.names.size()));
  if (fresh) part_.names.push_back(name_);
  put(found->second);
}

void GraphPartWriter::task(std::string_view name) {
  if (!part_.packed.empty()) put(end_of_task);
  if (part_.packed.size() >= packed_bytes_max || part_.names.size() >= names_max) finish();
  if (part_.packed.empty()) part_first_ = {first_.origin, first_.index + count_};
  ++count_;
  name_ = name;
  begin();
}

void GraphPartWriter::waits_for(std::uint32_t place, std::uint8_t kind, bool data) {
  if (part_.packed.size() >= packed_bytes_max) {
    // The next part repeats it.
    finish();
    part_first_ = {first_.origin, first_.index + count_ - 1};
    begin();
  }
  const std::int64_t back = std::int64_t{count_} - 1 - place;
  put((zigzag(back) << 2 | (data ? kind & 3U : order_only)) + 1);
  if (!data) put(kind);
}

void GraphPartWriter::finish() {
  if (!part_.packed.empty()) emit_(part_first_, std::move(part_));
  part_ = {};
  name_index_.clear();
}

bool read_graph_part(const JournalEvent& record, const GraphPartVisitor& visitor) {
  const auto* part = std::get_if<event::GraphPart>(&record.what);
  if (part == nullptr) return true;
  TaskId task = record.task;
  for (std::size_t at = 0; at < part->packed.size(); ++task.index) {
    const auto name = take(part->packed, at);
    if (!name || *name >= part->names.size()) return false;
    visitor.task(task, part->names[*name]);
    while (at < part->packed.size()) {
      const auto edge = take(part->packed, at);
      if (!edge) return false;
      if (*edge == end_of_task) break;
      const std::int64_t place = std::int64_t{task.index} - unzigzag((*edge - 1) >> 2);
      if (place < 0 || place > std::int64_t{~std::uint32_t{0}}) return false;
      const bool data = ((*edge - 1) & 3U) != order_only;
      const auto kind = data ? std::optional((*edge - 1) & 3U) : take(part->packed, at);
      if (!kind || *kind >= order_only) return false;
      visitor.waits_for({task.origin, static_cast<std::uint32_t>(place)}, static_cast<std::uint8_t>(*kind),
                        data);
    }
  }
  return true;
}

}  // namespace dag
