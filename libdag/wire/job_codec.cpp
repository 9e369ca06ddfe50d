// A message of a job picks its conversation: the cell's, the tasks', or that about outputs. Their common
// fields (which job, which shard, in which epoch) are written here.

#include "libdag/wire/codec/jobs.hpp"
#include "libdag/wire/codec/weigh.hpp"

namespace dag::wire {
namespace {

template <class Message, class... Messages>
constexpr bool is_one_of = (std::is_same_v<Message, Messages> || ...);

template <class Message>
constexpr bool of_cell =
    is_one_of<Message, message::JobCreate, message::JobState, message::Assign, message::Settled,
              message::Keep, message::Cancel, message::Outcomes, message::JobFailed, message::RenewLease,
              message::LeaseRenewed, message::AskPlan>;
template <class Message>
constexpr bool of_outputs =
    is_one_of<Message, message::Need, message::Located, message::Fetch, message::Data, message::Missing>;

template <class Builder, class Message>
void write_head(Builder to, const Message& message) {
  if constexpr (requires { message.job; }) to.setJob(message.job.value);
  if constexpr (requires { message.epoch; }) {
    to.setEpoch(word_of(message.epoch));
    to.setShard(message.shard);
  }
}

template <class Builder, class Message>
void write_all(Builder to, const Message& message, const CodeMap& codes) {
  write_head(to, message);
  write(to, message, codes);
}

}  // namespace

std::size_t words(const JobMessage& message) {
  return std::visit(
      [](const auto& one) {
        using Message = std::decay_t<decltype(one)>;
        if constexpr (of_cell<Message>) return words_of<schema::Cell> + field_words(one);
        if constexpr (of_outputs<Message>) return words_of<schema::Outputs> + field_words(one);
        return words_of<schema::Tasks> + field_words(one);
      },
      message);
}

void write(schema::Operation::Builder to, const JobMessage& message, const CodeMap& codes) {
  std::visit(
      [&](const auto& one) {
        using Message = std::decay_t<decltype(one)>;
        if constexpr (of_cell<Message>) {
          write_all(to.initCell(), one, codes);
        } else if constexpr (of_outputs<Message>) {
          write_all(to.initOutputs(), one, codes);
        } else {
          write_all(to.initTasks(), one, codes);
        }
      },
      message);
}

void write_whole(schema::Cell::Builder to, const JobMessage& message, const CodeMap& codes) {
  std::visit(
      [&](const auto& one) {
        if constexpr (of_cell<std::decay_t<decltype(one)>>) {
          write_all(to, one, codes);
        } else {
          throw Bug("libdag bug: a message that the cell's conversation does not have");
        }
      },
      message);
}

}  // namespace dag::wire
