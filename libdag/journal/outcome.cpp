#include "libdag/journal/outcome.hpp"

namespace dag {

bool is_outcome(const Record& record) {
  return std::holds_alternative<recorded::Ended>(record.what) ||
         std::holds_alternative<recorded::Retried>(record.what) ||
         std::holds_alternative<recorded::Cancelled>(record.what) ||
         std::holds_alternative<recorded::Settled>(record.what);
}

std::string outcome_text(const Record& record) {
  RecordWhat what = record.what;
  if (auto* ended = std::get_if<recorded::Ended>(&what)) {
    ended->ran = Duration{0};
  } else if (auto* retried = std::get_if<recorded::Retried>(&what)) {
    retried->pause = Duration{0};
  } else if (auto* settled = std::get_if<recorded::Settled>(&what)) {
    settled->late = Duration{0};
    if (settled->error) settled->error = Error{settled->error->code, std::string(name(settled->error->code))};
  }
  return to_string(what);
}

}  // namespace dag
