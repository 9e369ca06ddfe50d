#include "libdag/stealing/questions.hpp"

#include <algorithm>

#include "libdag/stealing/thief.hpp"

namespace dag {

void OpenQuestions::ask(Life thief, std::uint32_t lanes, Instant now) {
  close(thief);
  if (lanes == 0) return;
  if (open_.size() == thieves_max) open_.pop_front();
  open_.push_back({thief, lanes, now});
}

std::optional<OpenQuestions::Question> OpenQuestions::next(Instant now) {
  while (!open_.empty() && open_.front().asked + question_open_for <= now) open_.pop_front();
  if (open_.empty()) return std::nullopt;
  return open_.front();
}

void OpenQuestions::close(Life thief) {
  std::erase_if(open_, [&](const Question& question) { return question.thief == thief; });
}

bool OpenQuestions::asks(Life thief) const {
  return std::any_of(open_.begin(), open_.end(),
                     [&](const Question& question) { return question.thief == thief; });
}

Duration all_busy_for(std::uint32_t lanes, std::span<const Duration> running) {
  if (running.empty() || running.size() < lanes) return Duration{0};
  return *std::min_element(running.begin(), running.end());
}

Waiting behind(Waiting here, std::span<const Duration> running) {
  if (here.mean_run) here.mean_run = std::max(*here.mean_run, all_busy_for(here.lanes, running));
  return here;
}

std::optional<Instant> knows_more_at(const OpenQuestions::Question& question, const Waiting& here,
                                     Instant now) {
  // Until a row has ended here, durations of rows are unknown. After this time they are taken for
  // long.
  constexpr Duration runs_known_after = std::chrono::milliseconds(1);
  const Instant known_at = question.asked + runs_known_after;
  return here.mean_run || known_at <= now ? std::nullopt : std::optional(known_at);
}

std::uint32_t rows_to_give(std::uint32_t lanes, const Waiting& here, Duration round_trip) {
  // Some tens of round trips on one host. A Lend and an Ended for each row are worth a batch, not a flood.
  constexpr Duration run_ahead = std::chrono::milliseconds(10);
  constexpr Duration::rep rows_max = 128;
  // Both processes together spent 100 us (`dag-bench steal`, tasks of 100 us).
  constexpr Duration lending_cost = std::chrono::microseconds(50);
  // A row's output is mostly needed where the row would have run: there and back, and a margin.
  constexpr int worth_round_trips = 4;
  if (here.rows <= here.lanes_free) return 0;
  const std::uint64_t spare = here.rows - here.lanes_free;
  Duration::rep each_lane = 1;
  if (here.mean_run) {
    const Duration run = *here.mean_run;
    if (run < lending_cost) return 0;
    const Duration under_way = worth_round_trips * round_trip;
    const auto gone_meanwhile = static_cast<std::uint64_t>(under_way * std::max(here.lanes, 1u) / run);
    if (spare <= gone_meanwhile) return 0;
    each_lane = std::clamp(run_ahead / run, Duration::rep{1}, rows_max);
  }
  const std::uint64_t wanted = std::uint64_t{lanes} * static_cast<std::uint64_t>(each_lane);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, (spare + 1) / 2));
}

}  // namespace dag
