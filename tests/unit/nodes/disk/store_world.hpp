#pragma once
// Writes of the tests of the store, and waiting for them.

#include <catch2/catch.hpp>

#include "libdag/base/random.hpp"
#include "nodes/disk/store.hpp"

namespace dag::test {

using namespace consensus;

inline constexpr log::LogOptions small{log::head_bytes + 8192, 1024};
inline constexpr JobId one{1}, two{2};
inline const Configuration alone{{{ProcessId{1}, 1}}, {}};

inline std::unique_ptr<Store> open_store(const std::filesystem::path& directory,
                                         const log::LogOptions& options = small,
                                         std::function<void(bool)> on_full = {}) {
  auto store = Store::open(directory, options, std::move(on_full));
  if (!store) FAIL(store.error().message());
  return std::move(*store);
}

inline Blob bytes_of(std::uint64_t seed, std::size_t size_bytes) {
  Random random(seed);
  return Blob::make_on_heap(size_bytes, [&](std::byte* data) {
    for (std::size_t i = 0; i < size_bytes; ++i) data[i] = static_cast<std::byte>(random.next());
  });
}
inline Entry entry_of(std::uint64_t index) {
  return {1, EntryType::command, bytes_of(index, 8 + index % 200), {}};
}
inline StoredEntries entries_of(Index from, Index to) {
  StoredEntries some{from, {}};
  for (Index index = from; index <= to; ++index) some.entries.push_back(entry_of(index));
  return some;
}
inline Snapshot snapshot_of(Index index, std::size_t size_bytes = 100) {
  return {index, 1, alone, bytes_of(index, size_bytes)};
}

/// Waits until so much was said to be on the disk.
class Told {
 public:
  std::function<void()> one_more() {
    return [this] {
      const std::lock_guard lock(mutex_);
      ++count_;
      changed_.notify_all();
    };
  }
  void wait(std::uint64_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }
  std::uint64_t count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t count_ = 0;
};

inline void write_and_wait(Store& store, JobId job, StoredChange change) {
  Told told;
  store.write(job, std::move(change), told.one_more());
  told.wait(1);
}

inline std::size_t segments_in(const std::filesystem::path& directory) {
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory))
    count += file.path().filename().string().starts_with("segment-") ? 1 : 0;
  return count;
}

}  // namespace dag::test
