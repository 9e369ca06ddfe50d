#pragma once
// Puts results of jobs that have ended onto the disk, when the node keeps as many in memory as it may. The
// results lie in files without names and are read through mappings: a file goes with its last Blob, and
// nothing is left of it when the node has ended, even by a crash.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libdag/base/result.hpp"
#include "libdag/keeper/messages.hpp"

namespace dag {

/// The same bytes in a file on the disk of `directory`. disk_full: the disk has no room, or would have less
/// than `kept_free_bytes` left.
Result<Blob> on_disk(const std::string& directory, const Blob& bytes, std::uint64_t kept_free_bytes);

class ResultSpill {
 public:
  /// The node's log has segments of 64 MiB there.
  static constexpr std::uint64_t kept_free_bytes = std::uint64_t{1} << 30;
  /// Called on the thread here: with the output on the disk, or with the reason for its absence.
  using Done = std::function<void(client::TaskSettled settled, const Status& written)>;

  ResultSpill(std::string directory, Done done);
  ~ResultSpill();
  ResultSpill(const ResultSpill&) = delete;
  ResultSpill& operator=(const ResultSpill&) = delete;

  /// From any thread; does not block.
  void write(client::TaskSettled settled);

 private:
  void run();

  const std::string directory_;
  const Done done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<client::TaskSettled> waiting_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace dag
