#pragma once
// Large outputs that lanes hand over to lanes of other processes of this host without copying them: outputs
// of this process that others read, until they are handed back, and outputs of others that are read here.
// Used by all lanes, and by the thread that brings the news of a hand-back.
//
// Why no output is overwritten under a reader: an output here is held until its reader, and only its reader,
// has handed it back, or the reader's life is over. A record that its reader never saw, because the ring was
// given up, keeps its output until then.

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
  /// Returns where the reader finds it. Nothing: other processes cannot read the bytes, or the life is over.
  std::optional<ring::HandOver> lend(Life reader, const Blob& bytes);
  void take_back(Life reader, std::uint64_t number);

  // As reader.
  /// As Borrowed::open.
  Result<Blob> open(Life owner, const ring::SharedBytes& where, std::function<void()> given_back);

  /// The peer's life is over.
  void forget(Life peer);

 private:
  std::mutex mutex_;
  std::uint64_t last_number_ = 0;
  std::map<Life, std::map<std::uint64_t, Blob>> lent_;
  std::set<Life> over_;
  Borrowed borrowed_;
};

}  // namespace dag
