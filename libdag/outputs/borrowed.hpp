#pragma once
// Outputs of other processes of this host, read where they lie. What was mapped once stays mapped for a
// while: its owner uses the same segment for its next output of that size.

#include <functional>
#include <list>
#include <memory>

#include "libdag/base/ids.hpp"
#include "libdag/outputs/arena.hpp"
#include "libdag/outputs/segment.hpp"

namespace dag {

/// For one thread; the Blobs that it makes are for any, and may outlive it.
class Borrowed {
 public:
  /// Of segments that no Blob is in: a mapping keeps memory that its owner may have given up.
  static constexpr std::size_t idle_bytes_max = std::size_t{1} << 30;
  static constexpr std::size_t idle_max = 64;

  /// A Blob of these bytes of that life. `given_back` is called once, by whatever thread, when nobody holds
  /// it any more: its owner may then write there. value_invalid and ring_unavailable: they cannot be opened,
  /// or are not what they are said to be.
  Result<Blob> open(Life owner, const ring::SharedBytes& where, std::function<void()> given_back);
  /// That life is over: its segments are unmapped when nobody holds a Blob in them.
  void forget(Life owner);

  std::size_t mapped() const { return mapped_.size(); }

 private:
  struct Mapped {
    Life owner;
    std::shared_ptr<const Segment> segment;
  };
  void drop_idle();

  std::list<Mapped> mapped_;  // Longest not asked for first.
};

}  // namespace dag
