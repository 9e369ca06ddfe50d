#pragma once
// What a process gives to those that ask it for work. Decides to whom, and how many rows; which rows those
// are is the lanes' (the oldest), whether each of them may go is the home's.
//
// Who has nothing to give says nothing, but remembers the question while it is open (thief.hpp): work is
// often born just after somebody has looked for it. So a question costs one message, and is answered by the
// work itself.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// What waits for the lanes of a process.
struct Waiting {
  std::uint32_t rows = 0;
  std::uint32_t lanes = 1;
  std::uint32_t lanes_free = 0;  ///< or looking for work: they are about to take as many
  /// Of one row; empty as long as none has ended here.
  std::optional<Duration> mean_run = std::nullopt;
};

/// Questions that were not answered yet, in the order in which they came.
class OpenQuestions {
 public:
  /// One per life that is up; of more than a cluster can have, the oldest are forgotten.
  static constexpr std::size_t thieves_max = 4096;

  struct Question {
    Life thief;
    std::uint32_t lanes = 0;  ///< of it that have nothing to do
    Instant asked;
    bool operator==(const Question&) const = default;
  };

  /// Takes the place of an older one of the same thief.
  void ask(Life thief, std::uint32_t lanes, Instant now);
  /// The oldest that is still open. Forgets those that are not.
  std::optional<Question> next(Instant now);
  /// The thief got something, or has died.
  void close(Life thief);
  bool empty() const { return open_.empty(); }
  bool asks(Life thief) const;

  /// Asks `give` for so many rows for who asked first, closes the question when that gave some (true), and
  /// goes on with the next one; until there is nothing to give, or it is better to wait. `here` is asked anew
  /// each time.
  void answer(Instant now, Duration round_trip, const std::function<Waiting()>& here,
              const std::function<bool(Life thief, std::uint32_t rows)>& give);
  /// When `answer` is worth another try, if it is before anything else happens.
  std::optional<Instant> look_again_at() const { return look_again_at_; }

 private:
  std::deque<Question> open_;
  std::optional<Instant> look_again_at_;
};

/// For so long has each of the lanes been at what it runs, at least. Zero when one of them runs nothing.
Duration all_busy_for(std::uint32_t lanes, std::span<const Duration> running);

/// `here`, given how long lanes have been at what they run. When each of them is busy for longer than a row
/// takes, what waits behind them does so for as long again, as far as anybody knows: rows behind a straggler
/// are worth lending, however short they are.
Waiting behind(Waiting here, std::span<const Duration> running);

/// When it is worth while to look at the question again instead of answering it now. Nothing: now.
std::optional<Instant> knows_more_at(const OpenQuestions::Question& question, const Waiting& here,
                                     Instant now);

/// How many of these a thief gets for so many idle lanes. For each lane what runs for some round trips, so
/// that little of its time goes by with asking; of longer rows one, since the next can be asked for when it
/// is over. Never more than half, rounded up: the victim keeps working. None when our own lanes would be
/// through with all of them before the thief could begin, and of rows that are run sooner than lent.
std::uint32_t rows_to_give(std::uint32_t lanes, const Waiting& here, Duration round_trip);

}  // namespace dag
