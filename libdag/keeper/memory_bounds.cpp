#include "libdag/keeper/memory_bounds.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace dag {
namespace {

/// Reserve: a 32nd of the limit, at most 256 MiB.
std::uint64_t reserve(const MemoryBound& bound) {
  return std::min<std::uint64_t>(bound.limit / 32, std::uint64_t{256} << 20);
}

/// Beyond the reserve.
std::uint64_t left(const MemoryBound& bound) {
  const std::uint64_t taken = bound.used + reserve(bound);
  return taken < bound.limit ? bound.limit - taken : 0;
}

const MemoryBound* tightest(const std::vector<MemoryBound>& bounds) {
  const auto found = std::min_element(bounds.begin(), bounds.end(),
                                      [](const auto& a, const auto& b) { return left(a) < left(b); });
  return found == bounds.end() ? nullptr : &*found;
}

std::string mebibytes(std::uint64_t bytes) {
  char text[32];
  const double mebi = static_cast<double>(bytes) / (1 << 20);
  std::snprintf(text, sizeof text, mebi < 1024 ? "%.0f MiB" : "%.1f GiB", mebi < 1024 ? mebi : mebi / 1024);
  return text;
}

}  // namespace

JobMemory memory_of_job(const detail::Fragment& graph) {
  constexpr std::uint64_t waiting_task = 64, edge = 8, task_that_ends = 640;
  const std::uint64_t tasks = graph.size(), edges = graph.edges.size() * edge;
  return {tasks * waiting_task + edges, tasks * task_that_ends + edges};
}

std::uint64_t memory_left(const std::vector<MemoryBound>& bounds) {
  const MemoryBound* bound = tightest(bounds);
  return bound == nullptr ? std::numeric_limits<std::uint64_t>::max() : left(*bound);
}

bool fits(const std::vector<MemoryBound>& bounds, std::uint64_t bytes) {
  return bytes <= memory_left(bounds);
}

std::optional<Error> refusal(const std::vector<MemoryBound>& bounds, std::uint64_t bytes) {
  if (fits(bounds, bytes)) return std::nullopt;
  const MemoryBound& bound = *tightest(bounds);
  return Error{ErrorCode::memory_exhausted,
               "the job needs at least " + mebibytes(bytes) + ", and " + mebibytes(left(bound)) + " of the " +
                   mebibytes(bound.limit) + " of " + bound.what + " are free",
               "release jobs that are over, or raise the limit"};
}

std::optional<Error> shortage(const std::vector<MemoryBound>& bounds) {
  if (memory_left(bounds) > 0) return std::nullopt;
  const MemoryBound* bound = tightest(bounds);
  return Error{ErrorCode::memory_exhausted,
               "the job was stopped because " + mebibytes(bound->used) + " of the " +
                   mebibytes(bound->limit) + " of " + bound->what + " were in use",
               "submit less at a time, keep fewer outputs, or raise the limit"};
}

}  // namespace dag
