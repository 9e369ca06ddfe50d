#pragma once
// Answers the processes that ask this one for work: decides which machine here gives how many rows. Each
// question goes to the homes in turn, then to the runner, which may have attempts that homes elsewhere lent.
//
// The first machine that gives something closes the question. While no machine has anything, the question
// stays open for a while (stealing/questions.hpp). A home whose rows all start sooner here is not asked again
// for the same question: else these rows would leave the lanes and come back with each event. When there is
// such a home, and none that may know more soon, the question is closed, so that younger ones have their
// turn.

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "libdag/here/home_here.hpp"
#include "libdag/here/job_effects.hpp"
#include "libdag/runner/runner.hpp"
#include "libdag/stealing/questions.hpp"

namespace dag {

class Lender {
 public:
  explicit Lender(JobPorts& ports) : ports_(ports) {}

  void ask(const AskedForWork& asked, Instant now);
  /// Asks the machines, which have the effects, for the oldest question. False: nothing changed.
  /// Why this ends: each call that returns true closes the question, or one home less is asked for it.
  bool answer(const HomesHere& homes, Runner& runner, Instant now);
  /// The tasks that the last `answer` gave away.
  std::optional<WorkLent> take_lent() { return std::exchange(lent_, std::nullopt); }
  /// When `answer` is worth another try, unless something happens before.
  std::optional<Instant> look_again_at() const;
  bool asks(Life thief) const { return questions_.asks(thief); }

 private:
  using Question = OpenQuestions::Question;

  // How many tasks were given.
  std::size_t ask_homes(const Question& question, const HomesHere& homes, Instant now);
  std::size_t ask_home(const Question& question, std::uint32_t shard, HomeHere& here, Instant now);
  std::size_t ask_runner(const Question& question, Runner& runner, Instant now);
  /// How many rows such a machine may give now.
  std::uint32_t rows_for(const Question& question, std::optional<Duration> mean_run, Instant now);

  JobPorts& ports_;
  OpenQuestions questions_;
  std::optional<Question> oldest_;  ///< when the machines were asked last
  std::set<std::uint32_t> kept_;    ///< the homes that kept their rows for `oldest_`
  std::uint32_t first_ = 0;         ///< the shard that is asked first
  std::optional<Instant> look_again_at_;
  std::optional<WorkLent> lent_;
};

}  // namespace dag
