// When outputs may go: a row counts the readers of its output, and lets go of it when all are done, the row
// has settled, and no client may ask. Some stay for a while after that (staying_outputs.hpp).

#include "libdag/home/home_impl.hpp"

namespace dag {

using detail::EdgeKind;

void Home::Impl::consumer_done(RowIndex row) {
  DAG_CHECK(notes[row].consumers > 0);
  if (--notes[row].consumers == 0) maybe_let_go(row);
}

void Home::Impl::release_inputs(RowIndex row) {
  each_in(row, [&](EdgeKind, RowIndex predecessor, std::uint32_t) { consumer_done(predecessor); });
}

void Home::Impl::maybe_let_go(RowIndex row) {
  if (notes[row].consumers > 0 || is(row, flag::let_go)) return;
  if (table[row].ghost) {
    set(row, flag::let_go | flag::consumed);
    table[row].output.clear();
    const std::uint32_t shard = shard_of(*plan, table.id(row));
    // Offered here for a process that was lent a reader. (Offers of homes in this process are their own.)
    if (is(row, flag::published) && home_of(shard) != options.self) {
      release(options.self, output_of(row));
    }
    consumed.tell(shard, table.id(row));
    return;
  }
  if (!is(row, flag::settled) || is(row, flag::kept)) return;
  // The output cannot be made again, and outputs computed from it may have to be.
  if (options.several_processes && varies(row)) return;
  if (!lingers(row)) let_go(row);
}

/// Stays for a client that may ask late. Those that have stayed for longest go to make room.
bool Home::Impl::lingers(RowIndex row) {
  if (is(row, flag::lingers)) return true;
  const OutputSlot& output = table[row].output;
  if (!output.on_heap() && !is(row, flag::known)) return false;  // Most: it lies in the slot itself.
  const Blob blob = output.load();
  const Fact* known = fact(row);
  const std::uint64_t size_bytes = blob ? blob.size_bytes() : known != nullptr ? known->size_bytes : 0;
  if (size_bytes <= Blob::inline_bytes_max || !staying.has_room_for(size_bytes)) return false;
  set(row, flag::lingers);
  staying.add_released(row, size_bytes);
  for (RowIndex oldest = staying.take_too_much(); oldest != no_row; oldest = staying.take_too_much()) {
    if (!is(oldest, flag::lingers)) continue;
    unset(oldest, flag::lingers);
    if (notes[oldest].consumers == 0 && !is(oldest, flag::let_go | flag::kept)) let_go(oldest);
  }
  return true;
}

Error Home::Impl::released(RowIndex row) const {
  return {ErrorCode::output_released,
          "the output of " + describe(row) + " was released: all tasks that read it have ended",
          "say .keep() where the task is added to the graph, or ask for its output before they end"};
}

void Home::Impl::let_go(RowIndex row) {
  set(row, flag::let_go);
  if (options.several_processes && !is(row, flag::known)) {
    // Should it have to be made again, it must be the same. (Of large ones there is a Fact.)
    if (const Blob blob = table[row].output.load(); blob && !needs_digest(row, blob)) {
      digests.let_go(row, digest_of(blob));
    }
  }
  drop_bytes(row);
  // For a row that was only named the cell has no bytes.
  if (options.several_processes && is(row, flag::known)) {
    ledger.free_later(table.id(row));
  }
  if (const RowIndex owner = owner_of(row); owner != row) consumer_done(owner);
}

void Home::Impl::drop_bytes(RowIndex row) {
  // A value in the slot itself costs nothing.
  if (!options.released_bytes_max || table[row].output.on_heap()) table[row].output.clear();
  if (!is(row, flag::published | flag::known)) return;
  const OutputName name = output_of(row);
  if (is(row, flag::published)) release(options.self, name);
  unset(row, flag::published);
  outputs.release_all(row, name);
}

void Home::Impl::on(Life, const message::Consumed& message) {
  const auto one = [&](TaskId task) {
    const RowIndex row = table.find(task);
    if (row == no_row || table[row].ghost) return;
    if (consumed.first_told_by(message.from, row)) consumer_done(row);
  };
  for (const message::TaskBits& some : message.tasks) some.each(one);
}

void Home::Impl::on(Life from, const message::Holding& holding) {
  if (is_checkpoint(holding.name.attempt)) return checkpoints.copy_made(holding.name, from);
  const RowIndex row = table.find(holding.name.task);
  if (row == no_row || table[row].ghost || attempt_of(row) != holding.name.attempt || is(row, flag::let_go)) {
    return release(from, holding.name);
  }
  Fact& known = fact_of(row);
  if (!known.attempt) known.attempt = holding.name.attempt;
  outputs.add_holder(row, from);
  if (is_call(row)) saves_changed(calls.actor_of(row).group);
  if (outputs.copy_made(row, from)) work.send(row);
}

}  // namespace dag
