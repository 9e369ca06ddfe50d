#include "libdag/here/lender.hpp"

#include <utility>

#include "libdag/home/finish_placer.hpp"

namespace dag {

void Lender::ask(const AskedForWork& asked, Instant now) {
  questions_.ask(asked.thief, asked.slots, now);
  if (!asked.homes.empty()) first_ = asked.homes.front();
}

bool Lender::answer(const HomesHere& homes, Runner& runner, Instant now) {
  look_again_at_.reset();
  const auto question = questions_.next(now);
  if (std::exchange(oldest_, question) != question) kept_.clear();
  if (!question) return false;
  const std::size_t kept_before = kept_.size();
  std::size_t given = ask_homes(*question, homes, now);
  if (given == 0) given = ask_runner(*question, runner, now);
  if (given > 0) lent_ = WorkLent{question->thief, given};
  const bool over = given > 0 || (!kept_.empty() && !look_again_at_);
  if (over) {
    questions_.close(question->thief);
    oldest_.reset();
  }
  return over || kept_.size() > kept_before;
}

std::size_t Lender::ask_homes(const Question& question, const HomesHere& homes, Instant now) {
  auto home = homes.lower_bound(first_);
  for (std::size_t i = 0; i < homes.size(); ++i, ++home) {
    if (home == homes.end()) home = homes.begin();
    const auto& [shard, here] = *home;
    if (kept_.contains(shard)) continue;
    if (const std::size_t given = ask_home(question, shard, *here, now)) return given;
  }
  return 0;
}

std::size_t Lender::ask_home(const Question& question, std::uint32_t shard, HomeHere& here, Instant now) {
  const std::uint32_t wanted = rows_for(question, here.mean_run(), now);
  if (wanted == 0) return 0;
  const std::vector<RowIndex> rows = ports_.take_rows(shard, wanted);
  const std::vector<OutputName> attempts =
      ports_.take_attempts(wanted - static_cast<std::uint32_t>(rows.size()),
                           [&](const OutputName& attempt) { return here.home.may_lend(attempt); });
  if (rows.empty() && attempts.empty()) return 0;
  std::size_t went = here.home.lend(rows, question.thief, wanted, now);
  went += here.home.lend_attempts(attempts, question.thief, now);
  if (went == 0) kept_.insert(shard);
  return went;
}

/// The homes of these attempts decide whether they go.
std::size_t Lender::ask_runner(const Question& question, Runner& runner, Instant now) {
  if (runner.attempts_now() == 0) return 0;  // No question waits until it knows more.
  const std::uint32_t wanted = rows_for(question, runner.mean_run(), now);
  if (wanted == 0) return 0;
  const std::vector<OutputName> attempts =
      ports_.take_attempts(wanted, [&](const OutputName& attempt) { return runner.may_give(attempt); });
  for (const OutputName& attempt : attempts) runner.give(attempt, question.thief);
  return attempts.size();
}

std::uint32_t Lender::rows_for(const Question& question, std::optional<Duration> mean_run, Instant now) {
  const Waiting waiting = ports_.waiting(mean_run);
  if (const auto known_at = knows_more_at(question, waiting, now)) {
    look_again_at_ = known_at;
    return 0;
  }
  return rows_to_give(question.lanes, waiting, lending_round_trip);
}

std::optional<Instant> Lender::look_again_at() const {
  return questions_.empty() ? std::nullopt : look_again_at_;
}

}  // namespace dag
