#include "libdag/link/link_effects.hpp"

namespace dag::link {

std::string_view name(Refusal refusal) {
  switch (refusal) {
    case Refusal::stale_sender:
      return "stale_sender";
    case Refusal::newer_sender:
      return "newer_sender";
    case Refusal::other_receiver:
      return "other_receiver";
    case Refusal::other_cluster:
      return "other_cluster";
    case Refusal::other_process:
      return "other_process";
    case Refusal::malformed:
      return "malformed";
    case Refusal::ack_of_unsent:
      return "ack_of_unsent";
    case Refusal::beyond_window:
      return "beyond_window";
    case Refusal::over_credit:
      return "over_credit";
  }
  return "unknown";
}

}  // namespace dag::link
