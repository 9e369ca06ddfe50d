#pragma once
// Digests of outputs that are known later than the end of their row: while a runner takes the digest of a
// large output, readers have the bytes already, and only the record waits. And the digests of outputs that
// are gone: made again, they must be the same.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "libdag/base/check.hpp"
#include "libdag/home/home_rows.hpp"

namespace dag {

class Digests {
 public:
  explicit Digests(const HomeRows& rows) : rows_(rows) {}

  // ---- Digests that are being taken
  /// The runner of `taker` takes the digest of the row's output. Returns it, if it came before the end of the
  /// row; then nothing is awaited.
  std::optional<std::uint64_t> await(RowIndex row, const OutputName& output, Life taker) {
    if (const auto early = early_.extract(output)) return early.mapped();
    awaited_[row] = taker;
    return std::nullopt;
  }
  bool awaits(RowIndex row) const { return awaited_.contains(row); }
  /// The digest of an attempt that has not ended here.
  void came_early(const OutputName& output, std::uint64_t digest) { early_[output] = digest; }
  /// False: it was not awaited, or not from that life.
  bool came(RowIndex row, Life taker) {
    const auto found = awaited_.find(row);
    if (found == awaited_.end() || found->second != taker) return false;
    awaited_.erase(found);
    return true;
  }
  /// Nobody waits for it any more. False: nobody did.
  bool forget(RowIndex row) { return awaited_.erase(row) > 0; }
  /// `lives`, sorted, are those that are left. Returns the rows whose digests never come.
  std::vector<RowIndex> lives_left(const std::vector<Life>& lives) {
    std::vector<RowIndex> lost;
    std::erase_if(awaited_, [&](const auto& one) {
      if (std::binary_search(lives.begin(), lives.end(), one.second)) return false;
      lost.push_back(one.first);
      return true;
    });
    return lost;
  }

  // ---- Digests of released outputs of rows without a Fact
  void let_go(RowIndex row, std::uint64_t digest) {
    if (let_go_.size() <= row) let_go_.resize(row + 1);
    let_go_[row] = digest;
  }
  /// 0: none is known.
  std::uint64_t of_let_go(RowIndex row) const { return row < let_go_.size() ? let_go_[row] : 0; }

  /// Throws Bug when a rule is broken.
  void check_invariants() const {
    for (const auto& [row, taker] : awaited_) DAG_CHECK(rows_.has_ended(row) && !rows_.is(row, flag::sent));
  }

 private:
  const HomeRows& rows_;
  std::map<RowIndex, Life> awaited_;           ///< with the runner that takes it
  std::map<OutputName, std::uint64_t> early_;  ///< that came before the ends they belong to
  std::vector<std::uint64_t> let_go_;          ///< per row
};

}  // namespace dag
