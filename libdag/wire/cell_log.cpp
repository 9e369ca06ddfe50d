// schema/cell_log.capnp as values. It is written less often than frames are, so nothing is weighed before.

#include "libdag/wire/cell_log.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include "libdag/base/overloaded.hpp"
#include "libdag/schema/cell_log.capnp.h"
#include "libdag/wire/codec/jobs.hpp"
#include "libdag/wire/codec/launch.hpp"

namespace dag::wire {
namespace {

constexpr std::size_t word_bytes = sizeof(capnp::word);

Error damaged(const std::string& what) {
  return {ErrorCode::log_damaged, "what a cell's log says cannot be read: " + what,
          "another version of libdag wrote it, or something else did"};
}

template <class M>
M read_message(schema::Cell::Reader from, Reading& reading, const char* field) {
  JobMessage any;
  if (!read(from, reading, any) || !std::holds_alternative<M>(any))
    throw Invalid{std::string(field) + " is something else"};
  return std::get<M>(std::move(any));
}

template <class Root, class Write>
Blob encoded(Write&& write) {
  try {
    capnp::MallocMessageBuilder builder;
    write(builder.initRoot<Root>());
    const auto words = capnp::messageToFlatArray(builder);
    return Blob(std::as_bytes(std::span(words.begin(), words.size())));
  } catch (const Invalid& why) {
    throw Failure({ErrorCode::frame_invalid, why.what, {}});
  }
}

template <class T, class Root, class Read>
Result<T> decoded(std::span<const std::byte> bytes, const CodeMap& codes, Read&& read) {
  if (bytes.size() % word_bytes != 0) return damaged("it was cut off");
  // Aligned, too.
  std::vector<capnp::word> words(bytes.size() / word_bytes);
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  capnp::ReaderOptions options;
  options.traversalLimitInWords = std::max<std::uint64_t>(4096, 8 * words.size());
  options.nestingLimit = 32;
  try {
    capnp::FlatArrayMessageReader reader(kj::arrayPtr(words.data(), words.size()), options);
    Reading reading{codes, words.size()};
    return read(reader.getRoot<Root>(), reading);
  } catch (const kj::Exception& exception) {
    return damaged(exception.getDescription().cStr());
  } catch (const Invalid& why) {
    return damaged(why.what);
  }
}

// ---- Commands

void write_command(schema::CellCommand::Builder to, const CellCommand& any, const CodeMap& codes) {
  std::visit(Overloaded{[&](const command::Lead& word) {
                          auto lead = to.initLead();
                          lead.setLeader(word_of(word.leader));
                          write_lives(word.up, [&](unsigned count) { return lead.initUp(count); });
                          write_lives(word.down, [&](unsigned count) { return lead.initDown(count); });
                        },
                        [&](const command::Said& word) {
                          auto said = to.initSaid();
                          said.setFrom(word_of(word.from));
                          write_whole(said.initMessage(), word.message, codes);
                        },
                        [&](const command::LivesUp& up) {
                          write_lives(up.lives, [&](unsigned count) { return to.initLivesUp(count); });
                        },
                        [&](const command::LifeDown& down) {
                          const LifeEnd& how = down.how;
                          write(to.initLifeDown(),
                                keeper::WorkerDown{
                                    {}, 0, down.life, how.end, how.what, how.running, how.guilty_lane});
                        },
                        [&](const command::Keep& order) {
                          write_tasks(order.tasks, [&](unsigned count) { return to.initKeep(count); });
                          if (order.tasks.empty()) to.initKeep(0);
                        },
                        [&](const command::Cancel& order) {
                          write_tasks(order.tasks, [&](unsigned count) { return to.initCancel(count); });
                          if (order.tasks.empty()) to.initCancel(0);
                        },
                        [&](const command::Stop& order) { write(to.initStop(), order.why); },
                        [&](const command::Close&) { to.setClose(); }},
             any);
}

command::LifeDown read_down(schema::Keeper::Reader from, Reading& reading) {
  const auto message = read(from, reading);
  const auto* down = message ? std::get_if<keeper::WorkerDown>(&*message) : nullptr;
  if (down == nullptr) throw Invalid{"CellCommand.lifeDown is something else"};
  return {down->life, {down->end, down->text, down->running, down->guilty_lane}};
}

command::Said read_said(schema::Said::Reader from, Reading& reading) {
  command::Said said{life_from(from.getFrom()), {}};
  if (from.getMessage().isOutcomes()) {
    said.message = read_message<message::Outcomes>(from.getMessage(), reading, "Said.message");
  } else {
    said.message = read_message<message::JobFailed>(from.getMessage(), reading, "Said.message");
  }
  return said;
}

CellCommand read_command(schema::CellCommand::Reader from, Reading& reading) {
  switch (from.which()) {
    case schema::CellCommand::LEAD:
      return command::Lead{life_from(from.getLead().getLeader()),
                           read_all_lives(from.getLead().getUp(), reading, "Lead.up"),
                           read_all_lives(from.getLead().getDown(), reading, "Lead.down")};
    case schema::CellCommand::SAID:
      return read_said(from.getSaid(), reading);
    case schema::CellCommand::LIVES_UP:
      return command::LivesUp{read_all_lives(from.getLivesUp(), reading, "CellCommand.livesUp")};
    case schema::CellCommand::LIFE_DOWN:
      return read_down(from.getLifeDown(), reading);
    case schema::CellCommand::KEEP:
      return command::Keep{read_tasks(from.getKeep(), reading, "CellCommand.keep")};
    case schema::CellCommand::CANCEL:
      return command::Cancel{read_tasks(from.getCancel(), reading, "CellCommand.cancel")};
    case schema::CellCommand::STOP:
      return command::Stop{read(from.getStop())};
    case schema::CellCommand::CLOSE:
      return command::Close{};
    case schema::CellCommand::INVALID:
      break;
  }
  throw Invalid{"a command that is not known"};
}

// ---- Snapshots

void write_shard(schema::Shard::Builder to, const ShardSnapshot& shard, const CodeMap& codes) {
  to.setPosition(shard.position);
  to.setOutcomes(shard.outcomes);
  to.setRowsOpen(shard.rows_open);
  to.setHeard(shard.heard);
  to.setSteps(shard.steps);
  write_list(
      shard.waiting, [&](unsigned count) { return to.initWaiting(count); },
      [&](auto& list, unsigned i, const message::Outcomes& said) { write_whole(list[i], said, codes); });
  write_list(
      shard.settled, [&](unsigned count) { return to.initSettled(count); },
      [&](auto& list, unsigned i, const SettledOutcome& one) { write(list[i], one.record, codes); });
  write_list(
      shard.settled, [&](unsigned count) { return to.initHomes(count); },
      [](auto& list, unsigned i, const SettledOutcome& one) { list.set(i, word_of(one.home)); });
}

ShardSnapshot read_shard(schema::Shard::Reader from, Reading& reading) {
  ShardSnapshot shard;
  shard.position = from.getPosition();
  shard.outcomes = from.getOutcomes();
  shard.rows_open = from.getRowsOpen();
  shard.heard = from.getHeard();
  shard.steps = from.getSteps();
  for (const auto said : from.getWaiting())
    shard.waiting.push_back(read_message<message::Outcomes>(said, reading, "Shard.waiting"));
  const std::vector<Life> homes = read_all_lives(from.getHomes(), reading, "Shard.homes");
  std::vector<OutcomeRecord> records = read_records(from.getSettled(), reading, "Shard.settled");
  if (homes.size() != records.size()) throw Invalid{"Shard has not a home for each record"};
  for (std::size_t i = 0; i < records.size(); ++i) shard.settled.push_back({std::move(records[i]), homes[i]});
  return shard;
}

void write_snapshot(schema::CellSnapshot::Builder to, const CellSnapshot& whole, const CodeMap& codes) {
  write_whole(to.initCreate(), message::JobCreate{whole.plan}, codes);
  to.setLeadersRun(whole.leaders_run);
  to.setReplicas(whole.replicas);
  write_whole(to.initState(), whole.state, codes);
  write_list(
      whole.shards, [&](unsigned count) { return to.initShards(count); },
      [&](auto& list, unsigned i, const ShardSnapshot& shard) { write_shard(list[i], shard, codes); });
  write_first_try(whole.first_try, [&](unsigned count) { return to.initFirstTry(count); });
  write_tried(whole.tried, [&](unsigned count) { return to.initTried(count); });
  write_tasks(whole.kept, [&](unsigned count) { return to.initKept(count); });
  write_tasks(whole.cancelled, [&](unsigned count) { return to.initCancelled(count); });
  write_tasks(whole.started, [&](unsigned count) { return to.initStarted(count); });
  write_lives(whole.gone, [&](unsigned count) { return to.initGone(count); });
  write_lives(whole.closed, [&](unsigned count) { return to.initClosed(count); });
  to.setDone(whole.done);
  to.setSettledRows(whole.counts.settled);
  to.setOpenRows(whole.counts.open);
  to.setFinishedRows(whole.counts.finished);
  to.setFailedRows(whole.counts.failed);
  to.setSkippedRows(whole.counts.skipped);
  to.setCancelledRows(whole.counts.cancelled);
  to.setToleratedRows(whole.counts.tolerated);
  to.setMissedRows(whole.counts.missed);
  to.setRetries(whole.retries.value);
  if (whole.attached) to.setAttached(as_data(whole.attached));
}

CellSnapshot read_snapshot(schema::CellSnapshot::Reader from, Reading& reading) {
  CellSnapshot whole;
  whole.plan = read_message<message::JobCreate>(from.getCreate(), reading, "CellSnapshot.create").plan;
  whole.leaders_run = from.getLeadersRun();
  whole.replicas = from.getReplicas();
  whole.state = read_message<message::JobState>(from.getState(), reading, "CellSnapshot.state");
  for (const auto shard : from.getShards()) whole.shards.push_back(read_shard(shard, reading));
  if (whole.shards.size() != whole.plan->shards)
    throw Invalid{"CellSnapshot.shards are not those of the plan"};
  const bool has_homes = whole.state.version > 0 || !whole.state.homes.empty();
  if (has_homes && whole.state.homes.size() != whole.plan->shards)
    throw Invalid{"CellSnapshot.state has not a home for each shard"};
  whole.first_try = read_first_try(from.getFirstTry(), reading, "CellSnapshot.firstTry");
  for (const message::FirstTry& tried : whole.first_try) {
    for (const message::TaskBits& some : tried.tasks) {
      if (some.first.origin != 0 || some.first.index >= whole.plan->graph->size())
        throw Invalid{"CellSnapshot.firstTry names a task that there is not"};
    }
  }
  whole.tried = read_tried(from.getTried(), reading, "CellSnapshot.tried");
  whole.kept = read_tasks(from.getKept(), reading, "CellSnapshot.kept");
  whole.cancelled = read_tasks(from.getCancelled(), reading, "CellSnapshot.cancelled");
  whole.started = read_tasks(from.getStarted(), reading, "CellSnapshot.started");
  whole.gone = read_all_lives(from.getGone(), reading, "CellSnapshot.gone");
  whole.closed = read_all_lives(from.getClosed(), reading, "CellSnapshot.closed");
  whole.done = from.getDone();
  whole.counts = {from.getSettledRows(),   from.getOpenRows(),    from.getFinishedRows(),
                  from.getFailedRows(),    from.getSkippedRows(), from.getCancelledRows(),
                  from.getToleratedRows(), from.getMissedRows()};
  whole.retries = JobId{from.getRetries()};
  if (from.hasAttached()) whole.attached = read_blob(from.getAttached());
  return whole;
}

// ---- Submissions

void write_submission(schema::Submission::Builder to, const Submission& submission) {
  write(to.initLaunch(), submission.launch);
  to.setDetached(submission.detached);
  to.setAccepted(submission.accepted_unix_ns);
  to.setKey(submission.key);
  to.setRetries(submission.retries.value);
}

Submission read_submission(schema::Submission::Reader from, Reading& reading) {
  return {read(from.getLaunch(), reading), from.getDetached(), from.getAccepted(), from.getKey(),
          JobId{from.getRetries()}};
}

}  // namespace

Blob encode(const CellCommand& command, const CodeMap& codes) {
  return encoded<schema::CellCommand>([&](auto root) { write_command(root, command, codes); });
}
Blob encode(const CellSnapshot& snapshot, const CodeMap& codes) {
  return encoded<schema::CellSnapshot>([&](auto root) { write_snapshot(root, snapshot, codes); });
}

Blob encode(const Submission& submission) {
  return encoded<schema::Submission>([&](auto root) { write_submission(root, submission); });
}

Result<CellCommand> decode_command(std::span<const std::byte> bytes, const CodeMap& codes) {
  return decoded<CellCommand, schema::CellCommand>(
      bytes, codes, [](auto root, Reading& reading) { return read_command(root, reading); });
}
Result<CellSnapshot> decode_snapshot(std::span<const std::byte> bytes, const CodeMap& codes) {
  return decoded<CellSnapshot, schema::CellSnapshot>(
      bytes, codes, [](auto root, Reading& reading) { return read_snapshot(root, reading); });
}

Result<Submission> decode_submission(std::span<const std::byte> bytes) {
  return decoded<Submission, schema::Submission>(
      bytes, CodeMap::of_this_process(),
      [](auto root, Reading& reading) { return read_submission(root, reading); });
}

}  // namespace dag::wire
