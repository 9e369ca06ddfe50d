#include "libdag/journal/outcome.hpp"

namespace dag {

bool is_outcome(const JournalEvent& record) {
  return std::holds_alternative<event::Ended>(record.what) ||
         std::holds_alternative<event::Retried>(record.what) ||
         std::holds_alternative<event::Cancelled>(record.what) ||
         std::holds_alternative<event::Settled>(record.what);
}

std::string outcome_text(const JournalEvent& record) {
  EventWhat what = record.what;
  if (auto* ended = std::get_if<event::Ended>(&what)) {
    ended->ran = Duration{0};
  } else if (auto* retried = std::get_if<event::Retried>(&what)) {
    retried->pause = Duration{0};
  } else if (auto* settled = std::get_if<event::Settled>(&what)) {
    settled->late = Duration{0};
    if (settled->error) settled->error = Error{settled->error->code, std::string(name(settled->error->code))};
  }
  return to_string(what);
}

}  // namespace dag
