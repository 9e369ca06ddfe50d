#pragma once
// Hosts the machines of one job in this process, as a JobHere: the homes and the runner. Gives them what
// lanes, other processes and the cell say, and carries out what they decide. Decides nothing itself.
//
// Messages: in Delivery, CellHere, Loads, Explain (from the node), LaneNews, ReachChanged, AttemptEnded,
// Checkpointed (from lanes and TaskActors), Bring, Publish (from the cell), Digested, SavesFound (from the
// disk), Tick; out Incoming, Brought (to the cell), SaveHere, WorkCame, EndsBy, JobOver (to the node),
// TakeDigest (to a DigestActor that it makes when it needs one). It ends when the node forgets the job.

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "actors/attempts.hpp"
#include "actors/home_on_lanes.hpp"
#include "actors/invariants.hpp"
#include "libdag/here/job_here.hpp"

namespace dag {

/// Parameters of a JobHereActor.
struct JobSetup {
  Life self;
  std::shared_ptr<const JobPlan> plan;
  /// The cell, or the copy of the record, in this process; null: there is none, or a CellHere follows.
  caf::actor cell;
  /// The newest known loads; `of` is null where there are none.
  mail::Loads loads;
  /// HomeOptions::released_bytes_max of homes here.
  std::optional<std::uint64_t> released_bytes_max = {};
};

class JobHereActor : public caf::event_based_actor, public HasInvariants, private JobPorts {
 public:
  JobHereActor(caf::actor_config& config, JobSetup setup, LanesPort& lanes, const Ports& ports,
               EventSink& records, caf::actor node);
  ~JobHereActor() override;
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.job"; }
  void check_invariants() const override;

 private:
  // As a JobHere sees the process.
  std::unique_ptr<HomeHere> make_home(const BeginHome& which) override;
  void end_home(std::unique_ptr<HomeHere> home) override;
  Waiting waiting(std::optional<Duration> mean_run) override;
  std::vector<RowIndex> take_rows(std::uint32_t shard, std::uint32_t most) override;
  std::vector<OutputName> take_attempts(std::uint32_t most,
                                        const std::function<bool(const OutputName&)>& may_go) override;

  bool ask_disk();
  void on_lanes(mail::LaneNews& news);
  void on_loads(const mail::Loads& loads);
  void explain(mail::Explain& question) const;
  HomeOnLanes& home(std::uint32_t shard) const;
  template <class Visit>
  void each_home(Visit&& visit) const;
  /// Before each event of a home: tells placement the state of the lanes.
  void look_at_lanes() const;
  /// Tells the home which lives lanes can tell of ends.
  void look_at_reach(std::uint32_t shard);
  /// After each event: carries out what the machines decided, lets them handle what waits for them, and
  /// schedules the next wake-up.
  void act();
  void tell_lanes() const;
  void wake();

  void tell_lease();

  void carry_out();
  void carry_out(const OfferRow& ready);
  void carry_out(StartAttempt& start) { attempts_.start(std::move(start)); }
  void carry_out(const StopAttempt& stop) { attempts_.stop(stop); }
  void carry_out(SendMessage& message);
  void carry_out(TellCell& said);
  void carry_out(const HomeBegan& begun);
  void carry_out(Troubled& what);
  void carry_out(Brought& what);
  void carry_out(KeepSave& save);
  void carry_out(TakeDigest& order);
  void carry_out(const LeaseLost& lost);
  void carry_out(const WorkCame& came) { came_.insert(came.from); }
  void carry_out(const WorkLent& lent);
  void carry_out(const JobOver& over);
  caf::actor spawn_digests();

  JobSetup setup_;
  LanesPort& lanes_;
  const Ports ports_;
  EventSink& records_;
  caf::actor node_;
  caf::actor digests_;
  Attempts attempts_;
  std::unique_ptr<JobHere> job_;
  std::optional<Instant> wake_at_;
  std::optional<Instant> ends_by_;             ///< as the node knows it
  std::map<std::uint64_t, caf::actor> asked_;  ///< receivers of brought outputs, by ticket
  std::set<Life> came_;                        ///< lenders that the node is to hear of
};

}  // namespace dag
