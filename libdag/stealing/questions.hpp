#pragma once
// Answers to processes that ask for work. Decides which process gets how many rows; the lanes choose the rows
// (the oldest), and the home decides whether each of them may go.
//
// A process that has nothing to give does not answer, but remembers the question while it is open
// (thief.hpp): work often appears just after a question. So a question costs a single message, and the work
// itself is the answer.

#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// The rows queued for the lanes of a process.
struct Waiting {
  std::uint32_t rows = 0;
  std::uint32_t lanes = 1;
  std::uint32_t lanes_free = 0;  ///< or looking for work: they are about to take as many
  /// Mean duration of a row; empty until a row has ended here.
  std::optional<Duration> mean_run = std::nullopt;
};

/// Questions that are not answered yet, in order of arrival.
class OpenQuestions {
 public:
  /// A question per life that is up; beyond the size of a cluster the oldest are dropped.
  static constexpr std::size_t thieves_max = 4096;

  struct Question {
    Life thief;
    std::uint32_t lanes = 0;  ///< its idle lanes
    Instant asked;
    bool operator==(const Question&) const = default;
  };

  /// Replaces an older question of the same thief.
  void ask(Life thief, std::uint32_t lanes, Instant now);
  /// The oldest that is still open. Drops the expired ones.
  std::optional<Question> next(Instant now);
  /// The thief got work, or has died.
  void close(Life thief);
  bool empty() const { return open_.empty(); }
  bool asks(Life thief) const;

 private:
  std::deque<Question> open_;
};

/// The minimum time that the lanes have spent on their present rows. Zero when a lane is idle.
Duration all_busy_for(std::uint32_t lanes, std::span<const Duration> running);

/// `here`, corrected by how long the lanes have run their present rows. If each is busy for longer than a row
/// takes, rows behind them are expected to wait for as long again: rows behind a straggler are worth lending,
/// however short they are.
Waiting behind(Waiting here, std::span<const Duration> running);

/// A later time at which the question should be looked at again. None: answer it now.
std::optional<Instant> knows_more_at(const OpenQuestions::Question& question, const Waiting& here,
                                     Instant now);

/// How many rows a thief gets for its idle lanes. For each lane, rows that run for some round trips, so that
/// little time is lost by asking; of longer rows a single one, since the next can be asked for when it ends.
/// Never more than half, rounded up: the victim keeps working. None when our own lanes would finish all of
/// them before the thief could begin, and for rows that run faster than lending takes.
std::uint32_t rows_to_give(std::uint32_t lanes, const Waiting& here, Duration round_trip);

}  // namespace dag
