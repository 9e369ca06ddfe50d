#pragma once
// Outputs of other processes of this host, read in place. A mapped segment stays mapped for a while, since
// its owner reuses it for its next output of that size.

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
  /// Limit of segments without Blobs: a mapping keeps memory that its owner may have released.
  static constexpr std::size_t idle_bytes_max = std::size_t{1} << 30;
  static constexpr std::size_t idle_max = 64;

  /// A Blob of these bytes of that life. `given_back` is called once, on any thread, when no Blob refers to
  /// the bytes any more: the owner may then overwrite them. value_invalid and ring_unavailable: the bytes
  /// cannot be opened, or differ from their description.
  Result<Blob> open(Life owner, const ring::SharedBytes& where, std::function<void()> given_back);
  /// Ends a life: its segments are unmapped when no Blob refers to them.
  void forget(Life owner);

  std::size_t mapped() const { return mapped_.size(); }

 private:
  struct Mapped {
    Life owner;
    std::shared_ptr<const Segment> segment;
  };
  void drop_idle();

  std::list<Mapped> mapped_;  // Least recently used first.
};

}  // namespace dag
