// The names of options, as logs, errors and drawings print them.

#include "dag/options.hpp"

namespace dag {

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::none:
      return "none";
    case Outcome::finished:
      return "finished";
    case Outcome::failed:
      return "failed";
    case Outcome::skipped:
      return "skipped";
    case Outcome::cancelled:
      return "cancelled";
  }
  return "unknown";
}

}  // namespace dag
