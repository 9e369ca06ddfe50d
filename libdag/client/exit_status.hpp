#pragma once
// Exit status of libdag's programs, and of jobs whose main does not catch a Failure. Scripts rely on it.

#include <dag/error.hpp>

namespace dag {

enum ExitStatus : int {
  exit_ok = 0,
  exit_work_failed = 1,
  exit_usage = 2,
  exit_unreachable = 3,
  exit_infeasible = 4,
  exit_unknown = 5,
  exit_not_allowed = 6,
  exit_timed_out = 7,
  exit_cluster_lost = 8,
  exit_interrupted = 130,
};

/// The status for this kind of error.
inline int exit_status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::peer_unreachable:
    case ErrorCode::peer_version:
    case ErrorCode::address_invalid:
      return exit_unreachable;
    case ErrorCode::cluster_lost:
      return exit_cluster_lost;
    case ErrorCode::job_has_cycle:
    case ErrorCode::actor_name_taken:
    case ErrorCode::deadline_impossible:
    case ErrorCode::needs_impossible:
    case ErrorCode::address_in_use:
    case ErrorCode::binary_mismatch:
    case ErrorCode::configuration_invalid:
      return exit_infeasible;
    case ErrorCode::job_unknown:
      return exit_unknown;
    case ErrorCode::timed_out:
      return exit_timed_out;
    case ErrorCode::usage:
      return exit_usage;
    case ErrorCode::interrupted:
      return exit_interrupted;
    default:
      return exit_work_failed;
  }
}

}  // namespace dag
