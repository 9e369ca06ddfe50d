// News of ends between lanes of different shards, as the home sees it afterwards (edge_news.hpp): ghosts that
// ended without the home, and the processes that have to be told again when a way closes (lane_ways.hpp).

#include <algorithm>

#include "libdag/home/home_impl.hpp"
#include "libdag/job/edge_news.hpp"

namespace dag {

using detail::Edge;
using detail::EdgeKind;

/// Adds the rows of the job's graph that are ours, and the other shards as lanes have to know them.
void Home::Impl::add_graph() {
  Routes& routes = table.routes();
  routes = {plan->job, options.shard, options.epoch, options.self, {}};
  for (const message::ShardHome& home : state.homes)
    routes.to.push_back({home.home, home.epoch, Way::closed});
  const Sharding sharding{plan->shard_of, options.shard};
  std::shared_ptr<const Program> program = plan->shards == 1 ? plan->graph->program.kept() : nullptr;
  if (!program) program = make_program(*plan->graph, plan->shards == 1 ? nullptr : &sharding);
  table.add(plan->graph, std::move(program), {}, recounting());
  add_rows(0, no_row);
}

/// The home has news of a row of another shard. False: it has ended before, by a lane or by earlier news.
bool Home::Impl::end_ghost(RowIndex row, Outcome outcome) {
  for (;;) {
    const Next after = table.apply(row, EndLearnt{outcome});
    // A lane that puts its output into the slot is inside the gate, for a few instructions.
    if (after.word.state != RowState::running) return after.what == Do::tell;
  }
}

/// A lane ended it: its strong edges are satisfied. As long as nothing else happens to it, its word and its
/// slot say all that there is to know.
void Home::Impl::note_ghost(RowIndex row) {
  set(row, flag::noted);
  if (is(row, flag::let_go)) table[row].output.clear();  // Nobody waited for it any more.
  each_out(row, [&](detail::EdgeKind kind, RowIndex successor) {
    if (successor == no_row) return;
    if (kind != EdgeKind::strong || is_planted(options.planted, PlantedInHome::ghost_counted_twice))
      satisfy(successor);
  });
}

/// True if news of a ghost is from its present home, and neither repeated nor overtaken by newer news. Then
/// it is remembered as the newest.
bool Home::Impl::is_newest(RowIndex ghost, std::uint32_t from, Epoch from_epoch, std::uint64_t change) {
  // A former home's news may differ from what its successor found, so it comes too late.
  if (from >= plan->shards || from_epoch < state.homes[from].epoch) return false;
  // A lane's news came before all news of its home.
  Fact& known = has_ended(ghost) ? fact_of_ghost(ghost) : fact_of(ghost);
  if (std::pair(from_epoch, change) <= std::pair(known.from_epoch, known.change)) return false;
  known.from_epoch = from_epoch;
  known.change = change;
  return true;
}

void Home::Impl::on(Life, const message::NotEnded& news) {
  std::vector<RowIndex> ghosts;
  const auto one = [&](TaskId task) {
    const RowIndex row = table.find(task);
    if (row == no_row || !table[row].ghost || is(row, flag::settled)) return;
    if (is_newest(row, news.from, news.from_epoch, news.change)) ghosts.push_back(row);
  };
  for (const message::TaskBits& some : news.tasks) some.each(one);
  ghost_not_ended(ghosts);
}

/// Takes the ends of these ghosts back, if they had ended; rows that rest on them start anew. Lanes do not
/// end them any more in this epoch: news of a lane that comes later is of an end that does not count.
void Home::Impl::ghost_not_ended(const std::vector<RowIndex>& ghosts) {
  std::vector<RowIndex> changed;
  gate.close([] {});
  for (const RowIndex row : ghosts) {
    table[row].told_by_home = true;
    if (!has_ended(row)) continue;
    table.apply(row, Recounted{1});  // Its end takes that one away.
    changed.push_back(row);
  }
  gate.open();
  for (const RowIndex row : changed) {
    Fact& known = facts.at(row);
    if (is(row, flag::published)) release(options.self, {table.id(row), known.attempt});
    unset(row, flag::noted | flag::published);
    table[row].output.clear();
    outputs.set_holders(row, {});
    Fact unknown;
    unknown.from_epoch = known.from_epoch;
    unknown.change = known.change;
    known = std::move(unknown);
    withdraw(row);
  }
  if (!changed.empty()) reset_from(changed);
}

/// The facts of a ghost that has ended.
Fact& Home::Impl::fact_of_ghost(RowIndex row) {
  Fact& known = fact_of(row);
  if (known.attempt) return known;
  known.attempt = {table.routes().to[table.other_shards(row).front()].epoch, word(row).attempt};
  known.has_output = table.kind_of(table[row]).returns;
  const Blob blob = table[row].output.load();
  known.size_bytes = blob.size_bytes();
  known.digest = digest_if_quick(
      blob, options.digest_at_once_bytes_max);  // Else only its attempt says which value it is.
  if (known.from_epoch < known.attempt.epoch) {
    known.from_epoch = known.attempt.epoch;
    known.change = 0;
  }
  return known;
}

/// True if the news of the ghost did not name the inputs of its attempt, and there are some.
bool Home::Impl::inputs_unknown(RowIndex ghost) const {
  if (!facts.at(ghost).named.empty()) return false;
  const auto arguments = table.fragment_of(table[ghost]).arguments_of(table[ghost].task);
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const detail::Argument& argument) { return is_input(argument.kind); });
}

/// The epoch of a shard changes: numbers in its ghosts' words belong to the epoch before.
void Home::Impl::name_ghosts_of(std::uint32_t shard) {
  for (RowIndex row = 0; row < table.part(0).rows_end; ++row) {
    if (!table[row].ghost || !has_ended(row)) continue;
    if (table.other_shards(row).front() == shard) fact_of_ghost(row);
  }
}

/// Tells lanes the home of each shard and the way to it. Takes back news of lanes over ways that are not
/// open any more; returns the noted rows among them, each with the shard on that way that nothing else will
/// tell.
std::vector<std::pair<RowIndex, std::uint32_t>> Home::Impl::change_routes() {
  Routes& routes = table.routes();
  LaneWays::Change change = ways.change(routes.to);
  std::vector<std::pair<RowIndex, std::uint32_t>> untold;
  if (change.routes == routes.to) return untold;
  gate.close([] {});
  for (std::uint32_t shard = 0; shard < routes.to.size(); ++shard) {
    if (routes.to[shard].epoch != change.routes[shard].epoch) name_ghosts_of(shard);
  }
  if (change.any_lost && !is_planted(options.planted, PlantedInHome::told_is_told)) {
    for (RowIndex row = 0; row < table.part(0).rows_end; ++row) {
      if (table[row].ghost || !table[row].told) continue;
      for (const std::uint32_t shard : foreign_shards(row)) {
        if (!change.lost[shard]) continue;
        table[row].told = false;
        if (is(row, flag::noted)) untold.emplace_back(row, shard);
      }
    }
  }
  routes.to = std::move(change.routes);
  gate.open();
  return untold;
}

void Home::Impl::on_reach(std::vector<Life> lives, bool by_link) {
  ways.set_reach(std::move(lives), by_link);
  for (const auto& [row, shard] : change_routes()) tell_shard(row, shard);
}

}  // namespace dag
