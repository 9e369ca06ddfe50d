#include "libdag/home/ledger.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "libdag/base/planted.hpp"

namespace dag {
namespace {

/// Limits of one cut: entries, and bytes.
constexpr std::size_t cut_entries_max = 4096;
constexpr std::size_t cut_bytes_max = 256 * 1024;
/// Rows of one cut: a row that is one bit costs little to send, but is remembered meanwhile.
constexpr std::size_t cut_rows_max = 64 * 1024;
/// Rows of a step that needs something: all of them wait for all of its needs.
constexpr std::size_t needy_step_rows = 32;
/// Weight of a name.
constexpr std::size_t need_bytes = 32;
/// Weight of a word of rows.
constexpr std::size_t word_bytes = sizeof(message::TaskBits);

}  // namespace

Ledger::Cut& Ledger::open_cut() {
  if (cuts_.empty() || cuts_.back().bytes + filling_bytes_ >= cut_bytes_max ||
      rows_of_last() >= cut_rows_max ||
      cuts_.back().freed.size() + cuts_.back().tried.size() + cuts_.back().started.size() >=
          cut_entries_max) {
    if (!cuts_.empty()) end_words(cuts_.back());
    cuts_.emplace_back();
  }
  return cuts_.back();
}

void Ledger::put(Entry entry, std::size_t weight_bytes, const std::vector<OutputName>* needs) {
  Cut& cut = open_cut();
  if (cut.steps.empty()) cut.steps.emplace_back();
  if (needs != nullptr) name_needs(cut, *needs);
  cut.entries.push_back(entry);
  cut.steps.back().entries = static_cast<std::uint32_t>(cut.entries.size());
  ++cut.rows;
  cut.bytes += weight_bytes;
}

/// A word of the step that is being filled gets its first row.
void Ledger::open_word(std::uint32_t word) {
  Cut& cut = open_cut();
  if (cut.steps.empty()) cut.steps.emplace_back();
  filling_words_.push_back(word);
  filling_bytes_ += word_bytes;
}

/// The cut's last step gets the words that were filled.
void Ledger::end_words(Cut& cut) {
  if (filling_words_.empty()) return;
  cut.finished.reserve(cut.finished.size() + filling_words_.size());
  for (const std::uint32_t word : filling_words_) cut.finished.push_back(filling_.take(word));
  cut.steps.back().finished = static_cast<std::uint32_t>(cut.finished.size());
  filling_words_.clear();
  cut.rows += std::exchange(filling_rows_, 0);
  cut.bytes += std::exchange(filling_bytes_, 0);
}

/// Rows without needs must not wait for rows with needs, and rows with needs not for too many; a row's needs
/// need not all be in its own step, since steps that need each other are settled together.
void Ledger::name_needs(Cut& cut, const std::vector<OutputName>& needs) {
  StepEnd begin;
  if (cut.steps.size() > 1) begin = cut.steps[cut.steps.size() - 2];
  StepEnd end = cut.steps.back();
  const bool needy = end.needs_first > begin.needs_first || end.needs > begin.needs;
  const std::size_t rows = end.entries - begin.entries + filling_rows_;
  const std::size_t named_before = cut.needs_first.size() + cut.needs.size();
  if (needy ? rows >= needy_step_rows : rows > 0) {
    end_words(cut);
    begin = end = cut.steps.back();
    cut.steps.push_back(end);
  }
  for (const OutputName& name : needs) {
    if (name.attempt.number != 1) {
      cut.needs.push_back(name);
      continue;
    }
    const message::TaskBits bit = message::bit_of(name.task);
    // Tasks of one shard come one after the other, mostly.
    bool found = false;
    for (std::size_t i = cut.needs_first.size(), looked = 0; i-- > begin.needs_first && looked < 4;
         ++looked) {
      message::NeededFirst& known = cut.needs_first[i];
      if (known.epoch != name.attempt.epoch || known.tasks.first != bit.first) continue;
      known.tasks.bits |= bit.bits;
      found = true;
      break;
    }
    if (!found) cut.needs_first.push_back({name.attempt.epoch, bit});
  }
  cut.bytes += need_bytes * (cut.needs_first.size() + cut.needs.size() - named_before);
  cut.steps.back().needs_first = static_cast<std::uint32_t>(cut.needs_first.size());
  cut.steps.back().needs = static_cast<std::uint32_t>(cut.needs.size());
}

void Ledger::put_tried(RowIndex row, message::Tried tried) {
  open_cut().tried.push_back(tried);
  await_settling(row);
}

void Ledger::put_started(RowIndex row, TaskId task) {
  open_cut().started.push_back(task);
  await_settling(row);
}

void Ledger::await_settling(RowIndex row) {
  unsettled_[row] = sent_ + cuts_.size();
  press();
}

void Ledger::greet() {
  if (std::exchange(heard_, true)) return;
  if (cuts_.empty()) cuts_.emplace_back();
  press();
}

std::optional<Instant> Ledger::leaves_at(Instant now, bool urgent) const {
  if (cuts_.empty() || sent_ != settled_) return std::nullopt;
  const std::size_t rows = cuts_.size() == 1 ? rows_of_last() : cuts_.front().rows;
  const bool last_rows = rows_said_ + rows >= rows_own_;
  if (pressing_ || last_rows || cuts_.size() > 1 || urgent) return now;
  return std::max(now, cut_left_ + interval_);
}

Ledger::Leaving Ledger::leave(Instant now) {
  DAG_CHECK(!cuts_.empty() && sent_ == settled_);
  pressing_ = false;
  cut_left_ = now;
  if (cuts_.size() == 1) end_words(cuts_.front());
  Cut cut = std::move(cuts_.front());
  cuts_.pop_front();
  Leaving leaving;
  leaving.number = ++sent_;
  leaving.first_step = steps_known_ + steps_.size();
  auto entry = cut.entries.begin();
  auto word = cut.finished.begin();
  for (const StepEnd& end : cut.steps) {
    const auto entries_end = cut.entries.begin() + static_cast<std::ptrdiff_t>(end.entries);
    const auto words_end = cut.finished.begin() + static_cast<std::ptrdiff_t>(end.finished);
    auto rows =
        static_cast<std::uint32_t>(std::count_if(entry, entries_end, [](Entry one) { return !one.growth; }));
    for (auto some = word; some != words_end; ++some) rows += some->count();
    leaving.steps.push_back({end.needs_first, end.needs, rows});
    rows_said_ += rows;
    steps_.push_back({{entry, entries_end}, {word, words_end}});
    entry = entries_end;
    word = words_end;
  }
  static_cast<Lists&>(leaving) = std::move(cut);
  return leaving;
}

const message::Outcomes* Ledger::unanswered() const {
  return sent_ > settled_ && said_last_ ? &*said_last_ : nullptr;
}

std::vector<Ledger::Entry> Ledger::withdraw(const std::set<RowIndex>& rows) {
  std::vector<Entry> entries;
  const auto append = [&](const Step& step) {
    const std::size_t before = entries.size();
    entries.insert(entries.end(), step.entries.begin(), step.entries.end());
    for (const RowWord some : step.finished) {
      some.each([&](RowIndex row) { entries.push_back({row, false}); });
    }
    return std::span<const Entry>(entries).subspan(before);
  };
  const auto uses = [&](const Step& step) {
    const std::span<const Entry> those = append(step);
    const bool found =
        std::any_of(those.begin(), those.end(), [&](Entry entry) { return rows.contains(entry.row); });
    entries.clear();
    return found;
  };
  const auto first = std::find_if(steps_.begin(), steps_.end(), uses);
  for (auto step = first; step != steps_.end(); ++step) {
    for (const Entry entry : append(*step)) rows_said_ -= entry.growth ? 0 : 1;
  }
  const bool had_left = first != steps_.end();
  steps_.erase(first, steps_.end());
  if (!cuts_.empty()) end_words(cuts_.back());
  for (Cut& cut : cuts_) {
    append(cut);
    cut.entries.clear();
    cut.finished.clear();
    cut.steps.clear();
    cut.needs_first.clear();
    cut.needs.clear();
    cut.rows = cut.bytes = 0;
  }
  if (had_left) {
    open_cut();  // The cell is to know, also when there is nothing new to say.
    press();
  }
  return entries;
}

void Ledger::add(const message::Settled& message) {
  if (message.to <= position_) return;
  if (is_planted(planted_, PlantedInHome::overlap_refused) && message.from < position_) return;
  // A new leader says again, as one, all that was said before.
  message::Settled& known = ahead_[message.from];
  if (message.to > known.to) known = message;
}

std::optional<message::Settled> Ledger::take_next() {
  while (!ahead_.empty() && ahead_.begin()->first <= position_) {
    message::Settled next = std::move(ahead_.begin()->second);
    ahead_.erase(ahead_.begin());
    if (next.to <= position_) continue;
    position_ = next.to;
    DAG_CHECK(next.outcomes <= sent_);
    settled_ = next.outcomes;
    return next;
  }
  return std::nullopt;
}

void Ledger::free_settled() {
  for (; !freed_later_.empty() && freed_later_.front().first <= steps_known_; freed_later_.pop_front()) {
    open_cut().freed.push_back(freed_later_.front().second);
  }
}

std::vector<RowIndex> Ledger::take_settled() {
  std::vector<RowIndex> rows;
  std::erase_if(unsettled_, [&](const auto& one) {
    if (one.second > settled_) return false;
    rows.push_back(one.first);
    return true;
  });
  return rows;
}

void Ledger::check_invariants() const {
  DAG_CHECK(settled_ <= sent_ && sent_ <= settled_ + 1);
  DAG_CHECK(rows_said_ <= rows_own_);
  DAG_CHECK(said_last_ == std::nullopt || said_last_->number <= sent_);
  for (const auto& [row, outcomes] : unsettled_) {
    DAG_CHECK(outcomes > settled_ && outcomes <= sent_ + cuts_.size());
  }
  for (const auto& [from, message] : ahead_) DAG_CHECK(from > position_);
  DAG_CHECK(!cuts_.empty() || filling_words_.empty());
  std::size_t filled = 0;
  for (const std::uint32_t word : filling_words_) filled += RowWord{word, filling_[word]}.count();
  DAG_CHECK(filled == filling_rows_);
  for (const Cut& cut : cuts_) {
    std::size_t rows = cut.entries.size();
    for (const RowWord some : cut.finished) rows += some.count();
    DAG_CHECK(rows == cut.rows);
    StepEnd last;
    for (const StepEnd& step : cut.steps) {
      DAG_CHECK(last.entries <= step.entries && last.finished <= step.finished);
      DAG_CHECK(last.needs_first <= step.needs_first && last.needs <= step.needs);
      last = step;
    }
    DAG_CHECK(last.entries == cut.entries.size() && last.finished == cut.finished.size());
    DAG_CHECK(last.needs_first == cut.needs_first.size() && last.needs == cut.needs.size());
  }
}

}  // namespace dag
