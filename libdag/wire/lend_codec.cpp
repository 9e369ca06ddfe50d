// schema/tasks.capnp: Lend, the largest of its messages, as a value.

#include "libdag/wire/codec/lend.hpp"

namespace dag::wire {

void write(schema::Tasks::Builder to, const message::Lend& message, const CodeMap& codes) {
  const Attempt& attempt = message.attempt;
  auto builder = to.initLend();
  builder.setTask(word_of(attempt.task));
  builder.setEpoch(word_of(attempt.id.epoch));
  builder.setAttempt(attempt.id.number);
  builder.setAttemptNumber(attempt.attempt_number);
  if (!attempt.name.empty()) builder.setName(as_text(attempt.name));
  write(builder.initCode(), attempt.code, codes);
  builder.setReturns(attempt.returns);
  builder.setStandsForEpoch(word_of(attempt.stands_for.epoch));
  builder.setStandsFor(attempt.stands_for.number);
  builder.setGenerationEpoch(word_of(attempt.generation.epoch));
  builder.setGeneration(attempt.generation.number);
  builder.setHasTimeout(attempt.timeout.has_value());
  builder.setTimeout(attempt.timeout.value_or(Duration{}).count());
  if (attempt.checkpoints) {
    builder.setFirstCheckpoint(attempt.checkpoints->first_number);
    builder.setCheckpointEvery(attempt.checkpoints->every.count());
    builder.setLostAfter(attempt.checkpoints->lost_after.count());
  }
  builder.setExclusive(attempt.exclusive);
  builder.setStages(attempt.stages);
  builder.setAlone(attempt.alone);
  builder.setMayOverlap(attempt.may_overlap);
  builder.setLastTry(attempt.last_try);
  builder.setStays(message.stays);
  builder.setCall(static_cast<schema::Call>(attempt.call));
  builder.setActor(plus_one(attempt.actor));
  write_list(
      attempt.counts, [&](unsigned count) { return builder.initCounts(count); },
      [](auto& list, unsigned i, std::uint32_t count) { list.set(i, count); });
  write_list(
      attempt.blobs, [&](unsigned count) { return builder.initBlobs(count); },
      [](auto& list, unsigned i, const Blob& blob) {
        list[i].setHeld(static_cast<bool>(blob));
        if (blob.size_bytes() > 0) list[i].setBytes(as_data(blob));
      });
  write_names(attempt.inputs, [&](unsigned count) { return builder.initInputs(count); });
  write_list(
      attempt.predicates, [&](unsigned count) { return builder.initPredicates(count); },
      [&](auto& list, unsigned i, const detail::Code& code) { write(list[i], code, codes); });
  write(builder.initActorCode(), attempt.actor_code, codes);
  if (attempt.restore_from) builder.setRestoreFrom(as_data(attempt.restore_from));
  write_list(
      message.wanted, [&](unsigned count) { return builder.initWanted(count); },
      [](auto& list, unsigned i, const message::WantedInput& wanted) {
        auto one = list[i];
        one.setPosition(wanted.position);
        one.setShard(wanted.shard);
        one.setTask(word_of(wanted.name.task));
        one.setEpoch(word_of(wanted.name.attempt.epoch));
        one.setAttempt(wanted.name.attempt.number);
        write_lives(wanted.holders, [&one](unsigned count) { return one.initHolders(count); });
      });
}

namespace {

void read_inputs(Attempt& attempt, schema::Lend::Reader from, Reading& reading) {
  const auto counts = from.getCounts();
  check_count(counts.size(), limits::edges_max, "Lend.counts");
  attempt.counts = values_from<std::uint32_t>(counts);
  const auto blobs = from.getBlobs();
  reading.count(blobs.size(), limits::edges_max, "Lend.blobs");
  attempt.blobs.reserve(blobs.size());
  for (const auto blob : blobs) attempt.blobs.push_back(blob.getHeld() ? read_blob(blob.getBytes()) : Blob{});
  // The thunk takes as many blobs as the counts say, without looking.
  std::uint64_t needed = 0;
  for (const std::uint32_t count : attempt.counts) needed += count;
  if (needed != attempt.blobs.size()) {
    throw Invalid{"Lend has " + std::to_string(blobs.size()) + " blobs for arguments of " +
                  std::to_string(needed)};
  }
  attempt.inputs = read_names(from.getInputs(), reading, "Lend.inputs");
}

std::vector<message::WantedInput> read_wanted(schema::Lend::Reader from, Reading& reading) {
  const auto list = from.getWanted();
  reading.count(list.size(), limits::edges_max, "Lend.wanted");
  // Once, since each access to a list counts as reading it, and reading too much is refused.
  const std::size_t blobs = from.getBlobs().size();
  std::vector<message::WantedInput> all;
  all.reserve(list.size());
  for (const auto one : list) {
    // A saved state is no argument: it has no place among the blobs, and only a making, or a task that saves
    // its state, can start from it.
    const bool can_start_from_it = from.getCall() == schema::Call::CREATE || from.getFirstCheckpoint() != 0;
    const bool state = one.getPosition() == detail::none && can_start_from_it;
    if (!state && one.getPosition() >= blobs) throw Invalid{"Lend.wanted names a blob that there is not"};
    all.push_back({one.getPosition(),
                   {task_from(one.getTask()), AttemptId{epoch_from(one.getEpoch()), one.getAttempt()}},
                   one.getShard(),
                   read_lives(one.getHolders(), reading, "Lend.wanted.holders")});
  }
  return all;
}

}  // namespace

message::Lend read_lend(schema::Tasks::Reader tasks, Reading& reading) {
  const auto from = tasks.getLend();
  message::Lend lend{JobId{tasks.getJob()}, tasks.getShard(), epoch_from(tasks.getEpoch()), {}, {}};
  Attempt& attempt = lend.attempt;
  attempt.job = lend.job;
  attempt.task = task_from(from.getTask());
  attempt.id = {epoch_from(from.getEpoch()), from.getAttempt()};
  attempt.attempt_number = from.getAttemptNumber();
  attempt.name = text_from(from.getName(), label_bytes_max, "Lend.name");
  attempt.code = read(from.getCode(), reading.codes);
  attempt.returns = from.getReturns();
  attempt.stands_for = {epoch_from(from.getStandsForEpoch()), from.getStandsFor()};
  attempt.generation = {epoch_from(from.getGenerationEpoch()), from.getGeneration()};
  if (from.getHasTimeout()) attempt.timeout = Duration(from.getTimeout());
  if (const std::uint32_t first = from.getFirstCheckpoint(); first != 0) {
    if (first < checkpoint_numbers || first % checkpoints_per_attempt != 0)
      throw Invalid{"Lend.firstCheckpoint is no number of a checkpoint"};
    attempt.checkpoints = {first, Duration(from.getCheckpointEvery()), Duration(from.getLostAfter())};
  }
  attempt.exclusive = from.getExclusive();
  attempt.stages = from.getStages();
  attempt.alone = from.getAlone();
  attempt.may_overlap = from.getMayOverlap();
  attempt.last_try = from.getLastTry();
  attempt.call = read_call(from.getCall());
  attempt.actor = minus_one(from.getActor());
  read_inputs(attempt, from, reading);
  const auto predicates = from.getPredicates();
  reading.count(predicates.size(), limits::edges_max, "Lend.predicates");
  for (const auto code : predicates) attempt.predicates.push_back(read(code, reading.codes));
  attempt.actor_code = read(from.getActorCode(), reading.codes);
  if (from.hasRestoreFrom()) attempt.restore_from = read_blob(from.getRestoreFrom());
  lend.wanted = read_wanted(from, reading);
  lend.stays = from.getStays();
  return lend;
}

}  // namespace dag::wire
