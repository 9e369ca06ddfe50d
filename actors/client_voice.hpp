#pragma once
// A cell's messages to its one client, the submitter: outcomes with their bytes. The runner brings the bytes
// that the record does not hold. A part of the actors that host cells.

#include <map>

#include "actors/mail.hpp"

namespace dag {

class ClientVoice {
 public:
  /// The submitter is the one client of a cell in this release.
  static constexpr ClientId submitter{1};

  ClientVoice(JobId job, JobListener& listener) : job_(job), listener_(listener) {}

  /// True: no process has outputs of the job any more, so only results in the record can be told.
  void rest(bool at_rest) { at_rest_ = at_rest; }
  /// Returns the request for the runner; nothing when the record held all bytes.
  std::optional<mail::Bring> tell(TellClient&& what);
  void on_brought(dag::Brought&& brought);
  /// The least time between two progress messages.
  static constexpr Duration progress_every = std::chrono::milliseconds(200);
  /// True: tell_progress is to be called after that time; once until then.
  bool owes_progress(const CellCounts& counts);
  /// Null: there is nothing to tell any more.
  void tell_progress(const CellCounts* counts);

 private:
  void settled(const OutcomeRecord& record, Blob output) const;

  const JobId job_;
  JobListener& listener_;
  std::map<std::uint64_t, OutcomeRecord> awaited_;  ///< records whose bytes were sent for, by ticket
  std::uint64_t tickets_ = 0;
  std::uint64_t told_ = 0;  ///< rows settled
  bool progress_due_ = false;
  bool at_rest_ = false;
};

}  // namespace dag
