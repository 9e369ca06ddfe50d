#include "libdag/graph/warm_arrays.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace dag::detail {
namespace {

/// The arrays of one graph that grow with its tasks, all empty.
struct WarmArrays {
  std::vector<std::uint32_t> task_kinds, first_edge, first_literal, task_literals;
  std::vector<EdgeEnd> edges;
  std::vector<Blob> literals;

  std::size_t bytes() const {
    const auto of = [](const auto& values) { return values.capacity() * sizeof(values[0]); };
    return of(task_kinds) + of(first_edge) + of(first_literal) + of(task_literals) + of(edges) + of(literals);
  }
};

// Owned by whoever takes it out of its place. Never destroyed: graphs may be dropped while the program ends.
constinit std::array<std::atomic<WarmArrays*>, warm_sets_max> places = {};
constinit std::atomic<std::size_t> bytes_kept = 0;

template <class T>
std::vector<T> emptied(std::vector<T>& values) {
  values.clear();
  return std::exchange(values, {});
}

template <class T>
void move_into(std::vector<T>& warm, std::vector<T>& draft) {
  if (warm.capacity() <= draft.capacity()) return;
  warm.assign(std::make_move_iterator(draft.begin()), std::make_move_iterator(draft.end()));
  draft = std::move(warm);
}

}  // namespace

void warm_up(Fragment& draft) {
  for (auto& place : places) {
    const std::unique_ptr<WarmArrays> warm(place.exchange(nullptr, std::memory_order_acquire));
    if (!warm) continue;
    bytes_kept.fetch_sub(warm->bytes(), std::memory_order_relaxed);
    move_into(warm->task_kinds, draft.task_kinds);
    move_into(warm->first_edge, draft.first_edge);
    move_into(warm->first_literal, draft.first_literal);
    move_into(warm->task_literals, draft.task_literals);
    move_into(warm->edges, draft.edges);
    move_into(warm->literals, draft.literals);
    return;
  }
}

void keep_warm(Fragment& gone) {
  if (gone.task_kinds.capacity() + gone.edges.capacity() < warm_bytes_min / sizeof(std::uint32_t)) return;
  auto warm = std::make_unique<WarmArrays>();
  warm->task_kinds = emptied(gone.task_kinds);
  warm->first_edge = emptied(gone.first_edge);
  warm->first_literal = emptied(gone.first_literal);
  warm->task_literals = emptied(gone.task_literals);
  warm->edges = emptied(gone.edges);
  warm->literals = emptied(gone.literals);
  const std::size_t bytes = warm->bytes();
  if (bytes_kept.fetch_add(bytes, std::memory_order_relaxed) + bytes <= warm_bytes_max) {
    for (auto& place : places) {
      WarmArrays* nothing = nullptr;
      if (place.compare_exchange_strong(nothing, warm.get(), std::memory_order_release,
                                        std::memory_order_relaxed)) {
        static_cast<void>(warm.release());
        return;
      }
    }
  }
  bytes_kept.fetch_sub(bytes, std::memory_order_relaxed);
}

std::size_t warm_bytes() { return bytes_kept.load(std::memory_order_relaxed); }

}  // namespace dag::detail
