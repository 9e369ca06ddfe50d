#pragma once
// A home, and the rows that it shares with the lanes of its process; what a job needs to begin one.

#include <cstddef>
#include <memory>

#include "libdag/here/job_router.hpp"
#include "libdag/home/home.hpp"

namespace dag {

struct HomeHere {
  /// `lanes` may pass the gate.
  HomeHere(HomeOptions options, std::shared_ptr<const JobPlan> plan, std::size_t lanes, RecordSink& records,
           std::unique_ptr<HomePlacement> placement)
      : table(plan->representation),
        gate(lanes),
        home(std::move(options), plan, table, gate, records, std::move(placement)) {}
  virtual ~HomeHere() = default;

  RowTable table;
  Gate gate;
  Home home;
};

/// The process around a job.
class JobPorts {
 public:
  virtual ~JobPorts() = default;
  /// A home that nothing was said to yet.
  virtual std::unique_ptr<HomeHere> make_home(const BeginHome& which) = 0;
  /// Nothing is said to the home any more. Lanes may still be at its rows, which have to last until they
  /// leave.
  virtual void end_home(std::unique_ptr<HomeHere> home) = 0;
};

}  // namespace dag
