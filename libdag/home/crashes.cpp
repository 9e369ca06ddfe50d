#include "libdag/home/crashes.hpp"

#include <algorithm>

#include "libdag/supervision/blame.hpp"

namespace dag {

std::uint32_t Crashes::times(RowIndex row) const {
  if (state_.crashed.empty()) return 0;
  const message::Crashed* crashed = message::crashes_of(state_, rows_.table.id(row));
  return crashed == nullptr ? 0 : crashed->times;
}

std::uint32_t Crashes::suspicions(RowIndex row) const {
  if (state_.suspects.empty()) return 0;
  const message::Crashed* suspect = message::suspicions_of(state_, rows_.table.id(row));
  return suspect == nullptr ? 0 : suspect->times;
}

bool Crashes::runs_alone(RowIndex row) const {
  const bool quarantined = suspicions(row) > 0 || times(row) >= quarantined_after;
  return quarantined && !rows_.is(row, flag::member);
}

bool Crashes::keeps_away_from_the_record(RowIndex row) const {
  return places_.size() > 1 && std::binary_search(places_.begin(), places_.end(), state_.cell) &&
         is_dangerous(row);
}

bool Crashes::would_take_the_last_one(RowIndex row) const {
  return plan_.quarantine && places_.size() == 1 && places_.front() == state_.cell &&
         (times(row) > 0 || (suspicions(row) >= suspicions_free && runs_alone(row)));
}

void Crashes::state_changed(std::uint32_t own_shard) {
  for (const auto* tasks : {&state_.suspects, &state_.crashed}) {
    for (const message::Crashed& one : *tasks) {
      if (rows_.table.find(one.task) == no_row && shard_of(plan_, one.task) == own_shard)
        lost_a_spawned_one_ = true;
    }
  }
}

std::string Crashes::why_alone(RowIndex row) const {
  const std::uint32_t deaths = suspicions(row);
  if (deaths == 0) return "it crashed " + std::to_string(times(row)) + " processes";
  return "it was in " + (deaths == 1 ? "a process" : std::to_string(deaths) + " processes") +
         " that nobody knows who killed";
}

Error Crashes::too_often_error(RowIndex row) const {
  const message::Crashed& crashed = *message::crashes_of(state_, rows_.table.id(row));
  const std::uint32_t deaths = suspicions(row);
  if (deaths <= suspicions_free) {
    const std::string times = crashed.times > 1 ? " " + std::to_string(crashed.times) + " times: " : ": ";
    return {ErrorCode::process_crashed, rows_.describe(row) + " crashed its process" + times + crashed.what};
  }
  return {ErrorCode::process_crashed,
          rows_.describe(row) + " ran in " + std::to_string(deaths) + " processes that were killed" +
              (runs_alone(row) ? ", at last with nothing beside it" : ""),
          "does it need more memory than there is? if somebody else kills processes, give it more tries "
          "with .retry()",
          crashed.what};
}

Error Crashes::last_one_error(RowIndex row) const {
  const TaskId task = rows_.table.id(row);
  const std::uint32_t deaths = suspicions(row);
  const message::Crashed& known =
      deaths > 0 ? *message::suspicions_of(state_, task) : *message::crashes_of(state_, task);
  const std::string did = deaths == 0 ? " crashed its process"
                                      : " ran in " + std::to_string(deaths) + " processes that were killed";
  return {ErrorCode::process_crashed,
          rows_.describe(row) + did + ", and is not tried in the last one, where the client is",
          "with `dag run --isolate`, or on a cluster, kernels run in processes of their own", known.what};
}

}  // namespace dag
