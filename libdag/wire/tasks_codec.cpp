// schema/tasks.capnp as values; Lend is in lend_codec.cpp.

#include "libdag/wire/codec/lend.hpp"

namespace dag::wire {

// ---- Writing

void write(schema::Tasks::Builder to, const message::Stop& message, const CodeMap&) {
  write(to.initStop(), message.name);
}

void write(schema::Tasks::Builder to, const message::Ended& message, const CodeMap& codes) {
  auto builder = to.initEnded();
  write(builder.initRecord(), message.record, codes);
  builder.setRan(message.ran.count());
}

void write(schema::Tasks::Builder to, const message::Return& message, const CodeMap&) {
  auto builder = to.initReturn();
  write(builder.initName(), message.name);
  write_names(message.missing, [&](unsigned count) { return builder.initMissing(count); });
  if (!message.why.empty()) builder.setWhy(as_text(message.why));
  builder.setForThief(message.thief.has_value());
  if (message.thief) builder.setThief(word_of(*message.thief));
}

void write(schema::Tasks::Builder to, const message::Release& message, const CodeMap&) {
  auto list = to.initRelease(static_cast<unsigned>(message.names.size()));
  for (unsigned i = 0; i < list.size(); ++i) write(list[i], message.names[i]);
}

void write(schema::Tasks::Builder to, const message::Replicate& message, const CodeMap& codes) {
  auto builder = to.initReplicate();
  write(builder.initRecord(), message.record, codes);
  write_lives(message.holders, [&](unsigned count) { return builder.initHolders(count); });
  // No struct of its own: a pointer more here would make all of these messages longer, the hot ones too.
  builder.setSaveGroup(message.as.group);
  builder.setSaveMembers(message.as.members);
  builder.setSaveNumber(message.as.number);
  builder.setSaveActor(message.as.actor);
}

void write(schema::Tasks::Builder to, const message::Holding& message, const CodeMap&) {
  write(to.initHolding(), message.name);
}

void write(schema::Tasks::Builder to, const message::Digested& message, const CodeMap&) {
  auto builder = to.initDigested();
  write(builder.initName(), message.name);
  builder.setDigest(message.digest);
}

void write(schema::Tasks::Builder to, const message::Checkpointed& message, const CodeMap& codes) {
  write(to.initCheckpointed(), message.record, codes);
}

void write(schema::Tasks::Builder to, const message::Report& message, const CodeMap& codes) {
  auto builder = to.initReport();
  write_list(
      message.had, [&](unsigned count) { return builder.initHad(count); },
      [&](auto& list, unsigned i, const message::Report::Had& had) {
        write(list[i].initRecord(), had.record, codes);
        list[i].setBytes(had.bytes);
      });
  write_list(
      message.running, [&](unsigned count) { return builder.initRunning(count); },
      [](auto& list, unsigned i, const message::Report::Running& running) {
        auto one = list[i];
        write(one.initName(), running.name);
        write_names(running.inputs, [&one](unsigned count) { return one.initInputs(count); });
      });
  write_bits(message.ended, [&](unsigned count) { return builder.initEnded(count); });
}

void write(schema::Tasks::Builder to, const message::StealRequest& message, const CodeMap&) {
  to.setStealRequest(message.slots);
}

void write(schema::Tasks::Builder to, const message::PredecessorEnded& message, const CodeMap& codes) {
  auto builder = to.initPredecessorEnded();
  builder.setFrom(message.from);
  builder.setFromEpoch(word_of(message.from_epoch));
  builder.setChange(message.change);
  write(builder.initRecord(), message.record, codes);
  write_lives(message.holders, [&](unsigned count) { return builder.initHolders(count); });
}

void write(schema::Tasks::Builder to, const message::Consumed& message, const CodeMap&) {
  auto builder = to.initConsumed();
  builder.setFrom(message.from);
  write_bits(message.tasks, [&](unsigned count) { return builder.initTasks(count); });
}

void write(schema::Tasks::Builder to, const message::NotEnded& message, const CodeMap&) {
  auto builder = to.initNotEnded();
  builder.setFrom(message.from);
  builder.setFromEpoch(word_of(message.from_epoch));
  builder.setChange(message.change);
  write_bits(message.tasks, [&](unsigned count) { return builder.initTasks(count); });
}

// ---- Reading

namespace {

message::Report read_report(JobId job, std::uint32_t shard, Epoch epoch, schema::Report::Reader from,
                            Reading& reading) {
  message::Report report{job, shard, epoch, {}, {}, read_bits(from.getEnded(), reading, "Report.ended")};
  reading.count(from.getHad().size(), limits::tasks_max, "Report.had");
  for (const auto had : from.getHad()) report.had.push_back({read(had.getRecord(), reading), had.getBytes()});
  reading.count(from.getRunning().size(), limits::tasks_max, "Report.running");
  for (const auto running : from.getRunning()) {
    report.running.push_back(
        {read(running.getName()), read_names(running.getInputs(), reading, "Report.running.inputs")});
  }
  return report;
}

}  // namespace

bool read(schema::Tasks::Reader from, Reading& reading, JobMessage& into) {
  const JobId job{from.getJob()};
  const std::uint32_t shard = from.getShard();
  const Epoch epoch = epoch_from(from.getEpoch());
  switch (from.which()) {
    case schema::Tasks::LEND:
      into = read_lend(from, reading);
      return true;
    case schema::Tasks::STOP:
      into = message::Stop{job, shard, epoch, read(from.getStop())};
      return true;
    case schema::Tasks::ENDED:
      into = message::Ended{job, shard, epoch, read(from.getEnded().getRecord(), reading),
                            Duration(from.getEnded().getRan())};
      return true;
    case schema::Tasks::RETURN: {
      const auto reader = from.getReturn();
      message::Return back{job,
                           shard,
                           epoch,
                           read(reader.getName()),
                           read_names(reader.getMissing(), reading, "Return.missing"),
                           text_from(reader.getWhy(), label_bytes_max, "Return.why")};
      if (reader.getForThief()) back.thief = life_from(reader.getThief());
      into = std::move(back);
      return true;
    }
    case schema::Tasks::RELEASE:
      into = message::Release{job, shard, epoch, read_names(from.getRelease(), reading, "Tasks.release")};
      return true;
    case schema::Tasks::REPLICATE: {
      const auto reader = from.getReplicate();
      into = message::Replicate{
          job,
          shard,
          epoch,
          read(reader.getRecord(), reading),
          read_lives(reader.getHolders(), reading, "Tasks.replicate.holders"),
          {reader.getSaveGroup(), reader.getSaveMembers(), reader.getSaveNumber(), reader.getSaveActor()}};
      return true;
    }
    case schema::Tasks::HOLDING:
      into = message::Holding{job, shard, epoch, read(from.getHolding())};
      return true;
    case schema::Tasks::DIGESTED: {
      const std::uint64_t digest = from.getDigested().getDigest();
      if (digest == 0) throw Invalid{"Tasks.digested.digest is zero"};
      into = message::Digested{job, shard, epoch, read(from.getDigested().getName()), digest};
      return true;
    }
    case schema::Tasks::CHECKPOINTED:
      into = message::Checkpointed{job, shard, epoch, read(from.getCheckpointed(), reading)};
      return true;
    case schema::Tasks::REPORT:
      into = read_report(job, shard, epoch, from.getReport(), reading);
      return true;
    case schema::Tasks::STEAL_REQUEST:
      into = message::StealRequest{job, from.getStealRequest()};
      return true;
    case schema::Tasks::PREDECESSOR_ENDED: {  // The hot one.
      const auto reader = from.getPredecessorEnded();
      auto& ended = into.emplace<message::PredecessorEnded>();
      ended.job = job;
      ended.shard = shard;
      ended.epoch = epoch;
      ended.from = reader.getFrom();
      ended.from_epoch = epoch_from(reader.getFromEpoch());
      ended.change = reader.getChange();
      read(reader.getRecord(), reading, ended.record);
      ended.holders = read_lives(reader.getHolders(), reading, "Tasks.predecessorEnded.holders");
      return true;
    }
    case schema::Tasks::CONSUMED:
      into = message::Consumed{job, shard, epoch, from.getConsumed().getFrom(),
                               read_bits(from.getConsumed().getTasks(), reading, "Tasks.consumed.tasks")};
      return true;
    case schema::Tasks::NOT_ENDED: {
      const auto reader = from.getNotEnded();
      into = message::NotEnded{job,
                               shard,
                               epoch,
                               reader.getFrom(),
                               epoch_from(reader.getFromEpoch()),
                               reader.getChange(),
                               read_bits(reader.getTasks(), reading, "Tasks.notEnded.tasks")};
      return true;
    }
  }
  return false;
}

}  // namespace dag::wire
