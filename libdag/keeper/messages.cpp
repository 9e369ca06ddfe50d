#include "libdag/keeper/messages.hpp"

namespace dag {

std::string_view name(JobPhase phase) {
  switch (phase) {
    case JobPhase::starting:
      return "starting";
    case JobPhase::running:
      return "running";
    case JobPhase::finished:
      return "finished";
    case JobPhase::failed:
      return "failed";
    case JobPhase::cancelled:
      return "cancelled";
    case JobPhase::no_quorum:
      return "no quorum";
  }
  return "?";
}

}  // namespace dag
