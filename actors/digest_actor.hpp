#pragma once
// Takes digests of large outputs beside the mailbox of the JobHereActor that asks, a piece at a time. Runs
// on a thread of its own where there can be one, with the lowest priority: only the record waits for a
// digest, and a lane that wakes must not wait until hundreds of megabytes are read. (On CAF's pool a
// hand-over of 64 MiB on two cores took some milliseconds in one of three cases.)
//
// Linked to its JobHereActor, and ends with it.
//
// Messages: in TakeDigest (from the JobHereActor), NextPiece (from itself); out Digested (to the
// JobHereActor).

#include <deque>

#include "actors/mail.hpp"
#include "libdag/outputs/digest.hpp"

namespace dag {

class DigestActor : public caf::event_based_actor {
 public:
  DigestActor(caf::actor_config& config, caf::actor job, ProcessPort& process);
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.digest"; }

 private:
  struct UnderWay {
    OutputName name;
    DigestInPieces digest;
  };

  caf::actor job_;
  ProcessPort& process_;
  std::deque<UnderWay> outputs_;  ///< in the order in which they came; the first is being read
};

}  // namespace dag
