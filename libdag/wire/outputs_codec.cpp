// schema/outputs.capnp as values.

#include "libdag/wire/codec/jobs.hpp"

namespace dag::wire {

// ---- Writing

void write(schema::Outputs::Builder to, const message::Need& message, const CodeMap&) {
  write(to.initName(), message.name);
  to.setForClient(message.for_client);
  auto list = to.initNeed(static_cast<unsigned>(message.gone.size()));
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, word_of(message.gone[i]));
}

void write(schema::Outputs::Builder to, const message::Located& message, const CodeMap& codes) {
  write(to.initName(), message.asked);
  auto builder = to.initLocated();
  write(builder.initRecord(), message.record, codes);
  write_lives(message.holders, [&](unsigned count) { return builder.initHolders(count); });
  if (message.lost) write(builder.initLost(), *message.lost);
}

void write(schema::Outputs::Builder to, const message::Fetch& message, const CodeMap&) {
  write(to.initName(), message.name);
  to.setFetch();
}

void write(schema::Outputs::Builder to, const message::Data& message, const CodeMap& codes) {
  write(to.initName(), message.name);
  auto builder = to.initData();
  write(builder.initRecord(), message.record, codes);
  if (message.bytes) builder.setBytes(as_data(message.bytes));
  builder.setHanded(message.handed);
}

void write(schema::Outputs::Builder to, const message::Missing& message, const CodeMap&) {
  write(to.initName(), message.name);
  to.setMissing();
}

// ---- Reading

bool read(schema::Outputs::Reader from, Reading& reading, JobMessage& into) {
  const JobId job{from.getJob()};
  const std::uint32_t shard = from.getShard();
  const Epoch epoch = epoch_from(from.getEpoch());
  const OutputName name = read(from.getName());
  switch (from.which()) {
    case schema::Outputs::NEED:
      into = message::Need{
          job, shard, epoch, name, read_lives(from.getNeed(), reading, "Outputs.need"), from.getForClient()};
      return true;
    case schema::Outputs::LOCATED: {
      const auto reader = from.getLocated();
      message::Located located{job,
                               shard,
                               epoch,
                               read(reader.getRecord(), reading),
                               read_lives(reader.getHolders(), reading, "Outputs.located.holders"),
                               std::nullopt,
                               name};
      if (reader.hasLost()) located.lost = read(reader.getLost());
      into = std::move(located);
      return true;
    }
    case schema::Outputs::FETCH:
      into = message::Fetch{job, name};
      return true;
    case schema::Outputs::DATA: {
      const auto reader = from.getData();
      message::Data data{job, read(reader.getRecord(), reading), {}, name, reader.getHanded()};
      if (reader.hasBytes()) data.bytes = read_blob(reader.getBytes());
      into = std::move(data);
      return true;
    }
    case schema::Outputs::MISSING:
      into = message::Missing{job, name};
      return true;
  }
  return false;
}

}  // namespace dag::wire
