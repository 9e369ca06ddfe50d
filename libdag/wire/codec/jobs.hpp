#pragma once
// The messages of a job, each in its conversation: `write` sets the conversation's union. Includes generated
// code, so it is for the .cpp files of libdag/wire alone.

#include "libdag/wire/codec/conversations.hpp"

namespace dag::wire {

void write(schema::Cell::Builder to, const message::JobCreate& message, const CodeMap& codes);
void write(schema::Cell::Builder to, const message::JobState& message, const CodeMap& codes);
void write(schema::Cell::Builder to, const message::Assign& message, const CodeMap& codes);
void write(schema::Cell::Builder to, const message::Settled& message, const CodeMap& codes);
void write(schema::Cell::Builder to, const message::Keep& message, const CodeMap& codes);
void write(schema::Cell::Builder to, const message::Cancel& message, const CodeMap& codes);
void write(schema::Cell::Builder to, const message::Outcomes& message, const CodeMap& codes);
void write(schema::Cell::Builder to, const message::JobFailed& message, const CodeMap& codes);
void write(schema::Cell::Builder to, const message::RenewLease& message, const CodeMap& codes);
void write(schema::Cell::Builder to, const message::AskPlan& message, const CodeMap& codes);
void write(schema::Cell::Builder to, const message::LeaseRenewed& message, const CodeMap& codes);

// Messages that the log of a cell has, too.

/// Includes all fields that its conversation has for each message.
void write_whole(schema::Cell::Builder to, const JobMessage& message, const CodeMap& codes);
std::vector<message::Tried> read_tried(capnp::List<schema::Tried>::Reader from, Reading& reading,
                                       const char* field);
std::vector<message::FirstTry> read_first_try(capnp::List<schema::FirstTry>::Reader from, Reading& reading,
                                              const char* field);
template <class Init>
void write_tried(const std::vector<message::Tried>& tried, Init init) {
  write_list(tried, init, [](auto& list, unsigned i, const message::Tried& one) {
    list[i].setTask(word_of(one.task));
    list[i].setFailed(one.failed);
  });
}
template <class Init>
void write_first_try(const std::vector<message::FirstTry>& all, Init init) {
  write_list(all, init, [](auto& list, unsigned i, const message::FirstTry& some) {
    auto one = list[i];
    one.setEpoch(word_of(some.epoch));
    write_bits(some.tasks, [&](unsigned count) { return one.initTasks(count); });
  });
}

void write(schema::Tasks::Builder to, const message::Lend& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::Stop& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::Ended& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::Return& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::Release& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::Replicate& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::Holding& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::Digested& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::Checkpointed& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::Report& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::StealRequest& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::PredecessorEnded& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::Consumed& message, const CodeMap& codes);
void write(schema::Tasks::Builder to, const message::NotEnded& message, const CodeMap& codes);

void write(schema::Outputs::Builder to, const message::Need& message, const CodeMap& codes);
void write(schema::Outputs::Builder to, const message::Located& message, const CodeMap& codes);
void write(schema::Outputs::Builder to, const message::Fetch& message, const CodeMap& codes);
void write(schema::Outputs::Builder to, const message::Data& message, const CodeMap& codes);
void write(schema::Outputs::Builder to, const message::Missing& message, const CodeMap& codes);

}  // namespace dag::wire
