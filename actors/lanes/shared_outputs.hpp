#pragma once
// Large outputs that lanes tell lanes of other processes of this host without copying them: those of ours
// that others read, until they are handed back, and those of others that are read here. Used by all lanes,
// and by whoever brings the news that something came back.
//
// Why nothing is written under a reader: an output here is held until its reader, and only he, has handed it
// back, or his life is over. A record that its reader never saw, because the ring was given up, keeps its
// output until then.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "libdag/outputs/borrowed.hpp"

namespace dag {

class SharedOutputs {
 public:
  /// Numbers that lanes give have this bit: others count their own (nodes/transport/hand_overs.hpp).
  static constexpr std::uint64_t of_lanes = std::uint64_t{1} << 63;

  // As owner.
  /// Where the reader finds it. Nothing: the bytes lie where nobody else can read them, or his life is over.
  std::optional<ring::HandOver> lend(Life reader, const Blob& bytes);
  void take_back(Life reader, std::uint64_t number);

  // As reader.
  /// As Borrowed::open.
  Result<Blob> open(Life owner, const ring::SharedBytes& where, std::function<void()> given_back);

  /// That life is over.
  void forget(Life peer);

 private:
  std::mutex mutex_;
  std::uint64_t last_number_ = 0;
  std::map<Life, std::map<std::uint64_t, Blob>> lent_;
  std::set<Life> over_;
  Borrowed borrowed_;
};

}  // namespace dag
