#pragma once
// The lease of a process on the job's record, under which it runs tasks that must not run twice at the same
// time. It holds for `length` from when the question was *sent* that was answered last; whoever answers knows
// then that the process takes part in the job, and that nobody else leads the record.
//
//   held --a quarter of it has passed--> asks --answered--> held
//                                          |
//                                          +--seven eighths have passed--> ends itself, and what it runs
//
// A process that is taken out of the job gets no answer any more. So whoever hears that it is out, and waits
// for reissue_after(length), starts a task again when the other one's process has ended, if clocks run alike
// (drift) and that process is not held up between its last look at the clock and its end. The eighth is for
// the way from there to the end.
//
// Source: Gray and Cheriton, "Leases", SOSP 1989, section 2; the term counts from the sending as there.

#include <cstdint>
#include <map>
#include <optional>

#include "libdag/base/time.hpp"

namespace dag {

/// Long enough for a leader to be missed and another one to be elected within what is left of it.
inline constexpr Duration exclusive_lease = std::chrono::seconds(5);

/// From when it is known that nothing is answered any more.
constexpr Duration reissue_after(Duration length) {
  return length + length * 3 / 100 + std::chrono::milliseconds(50);
}

/// The side of who holds it.
class Lease {
 public:
  explicit Lease(Duration length) : length_(length) {}

  /// There is something to run under it, or not any more.
  void want(bool wanted) { wanted_ = wanted; }
  /// Who answers may be another one now.
  void ask_at_once() { asked_.reset(); }
  /// A question to send, when it is time for one.
  std::optional<std::uint64_t> question(Instant now);
  void answered(std::uint64_t number);

  /// Something may begin under it.
  bool held(Instant now) const { return now < over_at(); }
  /// What runs under it has to end.
  Instant over_at() const { return granted_ ? *granted_ + length_ * 7 / 8 : Instant{}; }
  /// When there is something to ask; nothing when nobody wants it.
  std::optional<Instant> ask_at() const;

 private:
  const Duration length_;
  bool wanted_ = false;
  std::uint64_t number_ = 0;
  std::map<std::uint64_t, Instant> open_;  ///< questions, and when they were sent
  std::optional<Instant> asked_;           ///< the last of them
  std::optional<Instant> granted_;         ///< when the question was sent that was answered last
};

}  // namespace dag
