#include "libdag/journal/event.hpp"
#include "libdag/base/counted.hpp"

#include <bit>
#include <cstdio>
#include <string_view>

namespace dag {

namespace {

// Control characters and line ends in what users wrote must not break "one event, one line".
std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (byte >= 0x20 && byte != 0x7F) {
      line += c;
    } else {
      line += '?';
    }
  }
  return line;
}

std::string with_reason(std::string text, std::string_view why) {
  if (!why.empty()) text += ": " + one_line(why);
  return text;
}

std::string_view name(event::MemberChange change) {
  switch (change) {
    case event::MemberChange::up:
      return "up";
    case event::MemberChange::suspected:
      return "suspected";
    case event::MemberChange::down:
      return "down";
    case event::MemberChange::trusted:
      return "heard again";
    case event::MemberChange::has:
      return "has";
  }
  return "changed";  // A later version has more words.
}

struct TextOf {
  std::string operator()(const event::Ready&) const { return "ready"; }
  std::string operator()(const event::Placed& placed) const {
    std::string text = "placed on " + to_string(placed.chosen) + " by " + one_line(placed.rule);
    for (const auto& candidate : placed.candidates) {
      text += "; " + to_string(candidate.process);
      if (candidate.misfit.empty()) {
        text += " wait " + text_of(candidate.wait) + ", transfer " + text_of(candidate.transfer) + ", run " +
                text_of(candidate.run);
      } else {
        text += " " + one_line(candidate.misfit);
      }
    }
    return text;
  }
  std::string operator()(const event::Lent& lent) const { return "dispatched to " + to_string(lent.runner); }
  std::string operator()(const event::Returned& returned) const {
    return with_reason("returned", returned.why);
  }
  std::string operator()(const event::Stolen& stolen) const {
    return "stolen from " + to_string(stolen.victim);
  }
  std::string operator()(const event::Started&) const { return "started"; }
  std::string operator()(const event::Ended& ended) const {
    return with_reason("ended: " + std::string(name(ended.outcome)) + " in " + text_of(ended.ran),
                       ended.error);
  }
  std::string operator()(const event::Lost& lost) const { return with_reason("lost", lost.why); }
  std::string operator()(const event::Retried& retried) const {
    return "retried after " + text_of(retried.pause) + (retried.charged ? "" : ", not charged");
  }
  std::string operator()(const event::Cancelled& cancelled) const {
    return with_reason("cancelled", cancelled.why);
  }
  std::string operator()(const event::Settled& settled) const {
    std::string text = "settled: " + std::string(name(settled.outcome));
    if (settled.tries > 1) text += ", " + std::to_string(settled.tries) + " tries";
    if (settled.late > Duration{0}) text += ", " + text_of(settled.late) + " after its deadline";
    return with_reason(std::move(text), settled.error ? settled.error->what : "");
  }
  std::string operator()(const event::OutputLost& lost) const {
    return "output " + std::to_string(lost.slot) + " lost";
  }
  std::string operator()(const event::Spawned& spawned) const {
    return "spawned by " + to_string(spawned.parent) + to_string(spawned.by);
  }
  std::string operator()(const event::Member& member) const {
    return with_reason("member " + to_string(member.life) + " " + std::string(name(member.change)),
                       member.why);
  }
  std::string operator()(const event::Ran& ran) const {
    return with_reason(std::string(name(ran.outcome)) + " in " + text_of(ran.ran), ran.error);
  }
  std::string operator()(const event::Became& became) const {
    return "became " + to_string(became.tail) + " in " + text_of(became.ran);
  }
  std::string operator()(const event::StartedOver& over) const {
    return with_reason("waits again", over.why);
  }
  std::string operator()(const event::RolledBack& back) const {
    return with_reason(
        "rolled back to " + (back.border == 0 ? "its creation" : "save " + std::to_string(back.border)),
        back.why);
  }
  std::string operator()(const event::Restored&) const { return "restored"; }
  std::string operator()(const event::Crashed& crashed) const {
    const std::string times = counted(crashed.times, "time");
    return with_reason("crashed its process (" + times + " so far)", crashed.what);
  }
  std::string operator()(const event::HomeGiven& given) const {
    return "shard " + std::to_string(given.shard) + " given to " + to_string(given.home) + ", epoch " +
           to_string(given.epoch);
  }
  std::string operator()(const event::Recounted& counted) const {
    return "shard " + std::to_string(counted.shard) + " rebuilt, epoch " + to_string(counted.epoch);
  }
  std::string operator()(const event::GraphPart& part) const {
    return "graph: " + std::to_string(part.names.size()) + " names, " + std::to_string(part.packed.size()) +
           " bytes";
  }
  std::string operator()(const event::Said& said) const { return "said: " + one_line(said.line); }
  std::string operator()(const event::Printed& printed) const {
    std::string text = "printed: " + one_line(printed.text);
    if (printed.left_out > 0)
      text += " (" + std::to_string(printed.left_out) + " bytes before this text were dropped)";
    return text;
  }
  std::string operator()(const event::Saved& saved) const {
    if (saved.border > 0) return "save " + std::to_string(saved.border) + " of its group is complete";
    return "saved " + std::to_string(saved.bytes) + " bytes";
  }
  std::string operator()(const event::Leads& leads) const {
    return "leads the job's record, term " + std::to_string(leads.term);
  }
  std::string operator()(const event::InputsCame& came) const {
    return "inputs arrived: " + std::to_string(came.bytes) + " bytes in " + text_of(came.took);
  }
  std::string operator()(const event::TasksKnown& known) const {
    std::string text = known.submitted ? "submitted:" : "spawned:";
    for (const event::TaskClass& one : known.classes) {
      text += " " + std::to_string(one.tasks) + " " + one_line(one.name);
    }
    return text;
  }
  std::string operator()(const event::JobBegan& began) const {
    return "began: " + (began.name.empty() ? "" : one_line(began.name) + ", ") +
           counted(began.tasks, "task") +
           (began.retries == JobId{}
                ? ""
                : ", " + std::to_string(began.done) + " finished in " + to_string(began.retries));
  }
  std::string operator()(const event::JobOver& over) const {
    const auto count = [](std::uint64_t tasks, const char* what) {
      return tasks == 0 ? std::string() : ", " + std::to_string(tasks) + what;
    };
    return with_reason((over.stopped ? "stopped: " : "over: ") + std::to_string(over.finished) + " finished" +
                           count(over.failed, " failed") + count(over.skipped, " skipped") +
                           count(over.cancelled, " cancelled"),
                       over.stopped ? over.stopped->what : "");
  }
  std::string operator()(const event::JobVerdict& verdict) const {
    return verdict.cancelled ? "the job was cancelled" : counted(verdict.tolerated, "tolerated failure");
  }
  std::string operator()(const event::FinishedTasks& some) const {
    return "settled: finished, " + std::to_string(std::popcount(some.bits)) + " tasks from this one on";
  }
};

}  // namespace

bool is_about_task(const EventWhat& what) {
  if (const auto* known = std::get_if<event::TasksKnown>(&what)) return !known->submitted;
  return !std::holds_alternative<event::Member>(what) && !std::holds_alternative<event::HomeGiven>(what) &&
         !std::holds_alternative<event::Recounted>(what) && !std::holds_alternative<event::Leads>(what) &&
         !std::holds_alternative<event::JobBegan>(what) && !std::holds_alternative<event::JobOver>(what) &&
         !std::holds_alternative<event::JobVerdict>(what) && !std::holds_alternative<event::Printed>(what);
}

bool is_log(const EventWhat& what) {
  return std::holds_alternative<event::Said>(what) || std::holds_alternative<event::Printed>(what);
}

void each_finished(const JournalEvent& many, const std::function<void(const JournalEvent&)>& visit) {
  const auto* some = std::get_if<event::FinishedTasks>(&many.what);
  if (some == nullptr) return;
  JournalEvent one{many.at, many.place, many.job, many.task, many.attempt, event::Settled{Outcome::finished}};
  auto& settled = std::get<event::Settled>(one.what);
  std::size_t place = 0;
  for (std::uint64_t left = some->bits; left != 0; left &= left - 1, ++place) {
    one.task.index = many.task.index + static_cast<std::uint32_t>(std::countr_zero(left));
    const std::size_t name = place < some->name_of.size() ? some->name_of[place] : some->names.size();
    settled.name = name < some->names.size() ? some->names[name] : std::string();
    visit(one);
  }
}

std::string to_string(const EventPlace& place) {
  return to_string(place.process) + (place.lane ? "/l" + std::to_string(*place.lane) : "");
}

std::string to_string(const EventWhat& what) { return std::visit(TextOf{}, what); }

std::string to_string(const JournalEvent& record, const NameOfTask& name_of) {
  const std::int64_t at = record.at.since_start.count();
  char time[40];
  std::snprintf(time, sizeof time, "%lld.%09lld ", static_cast<long long>(at / 1'000'000'000),
                static_cast<long long>(at % 1'000'000'000));
  std::string line = time;
  if (!is_about_task(record.what)) {
    if (record.job != JobId{}) line += to_string(record.job) + " ";
  } else {
    std::string task = name_of ? one_line(name_of(record.task)) : std::string();
    if (task.empty()) task = to_string(record.task);
    line += to_string(record.job) + "/" + task;
    if (record.attempt) line += to_string(record.attempt);
    line += " ";
  }
  return line + to_string(record.place) + " " + to_string(record.what);
}

}  // namespace dag
