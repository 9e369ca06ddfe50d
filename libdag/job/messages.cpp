#include "libdag/job/messages.hpp"

#include <algorithm>

#include "libdag/base/spawned.hpp"

namespace dag {

using namespace message;

Recipient recipient_of(const JobMessage& any) {
  return std::visit([](const auto& message) { return message.kind.recipient; }, any);
}

JobId job_of(const JobMessage& any) {
  return std::visit(
      []<class M>(const M& message) {
        if constexpr (std::same_as<M, JobCreate>) {
          return message.plan->job;
        } else {
          return message.job;
        }
      },
      any);
}

std::optional<ShardEpoch> shard_epoch_of(const JobMessage& any) {
  return std::visit(
      []<class M>(const M& message) -> std::optional<ShardEpoch> {
        if constexpr (requires {
                        message.shard;
                        message.epoch;
                      }) {
          return ShardEpoch{message.shard, message.epoch};
        } else {
          return std::nullopt;
        }
      },
      any);
}

std::string_view name(const JobMessage& any) {
  return std::visit([](const auto& message) { return message.kind.name; }, any);
}

bool message::is_alive(const JobState& state, Life life) {
  return std::binary_search(state.lives.begin(), state.lives.end(), life);
}

bool message::is_over_for(const JobState& state, Life life) { return state.ended && !is_alive(state, life); }

std::vector<Life> message::lives_that_run(const JobState& state) {
  std::vector<Life> lives = state.lives;
  std::erase_if(lives, [&](Life life) {
    return std::binary_search(state.recorders.begin(), state.recorders.end(), life);
  });
  return lives;
}

static const message::Crashed* find(const std::vector<message::Crashed>& among, TaskId task) {
  const auto found =
      std::lower_bound(among.begin(), among.end(), task,
                       [](const message::Crashed& crashed, TaskId wanted) { return crashed.task < wanted; });
  return found != among.end() && found->task == task ? &*found : nullptr;
}

const message::Crashed* message::crashes_of(const JobState& state, TaskId task) {
  return find(state.crashed, task);
}

const message::Crashed* message::suspicions_of(const JobState& state, TaskId task) {
  return find(state.suspects, task);
}

std::uint32_t shard_of(const JobPlan& plan, TaskId task) {
  if (task.origin > 0) return shard_of_origin(task.origin);
  return task.index < plan.shard_of.size() ? plan.shard_of[task.index] : detail::none;
}

}  // namespace dag
