#pragma once
// A home, and the rows that it shares with the lanes of its process; what a job needs to begin one.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "libdag/here/job_router.hpp"
#include "libdag/home/home.hpp"
#include "libdag/rows/shared_rows.hpp"
#include "libdag/stealing/questions.hpp"

namespace dag {

struct HomeHere {
  HomeHere(HomeOptions options, std::shared_ptr<const JobPlan> plan, std::shared_ptr<SharedRows> its_rows,
           EventSink& records, std::unique_ptr<HomePlacement> placement)
      : rows(std::move(its_rows)),
        table(rows->table),
        home(std::move(options), std::move(plan), table, rows->gate, records, std::move(placement)) {}
  virtual ~HomeHere() = default;
  /// The mean run time of its rows, as far as placement knows it.
  virtual std::optional<Duration> mean_run() const { return std::nullopt; }

  const std::shared_ptr<SharedRows> rows;
  RowTable& table;
  Home home;
};
/// By shard.
using HomesHere = std::map<std::uint32_t, std::unique_ptr<HomeHere>>;

/// The process around a job.
class JobPorts {
 public:
  virtual ~JobPorts() = default;
  /// A home that nothing was said to yet.
  virtual std::unique_ptr<HomeHere> make_home(const BeginHome& which) = 0;
  /// Nothing is said to the home any more. Lanes may still be at its rows, which have to last until they
  /// leave.
  virtual void end_home(std::unique_ptr<HomeHere> home) = 0;

  // For idle processes. Whatever is taken was not begun, and no lane here begins it any more.

  /// `mean_run` as in Waiting.
  virtual Waiting waiting(std::optional<Duration> mean_run) = 0;
  /// The oldest rows of that home that are queued for lanes.
  virtual std::vector<RowIndex> take_rows(std::uint32_t shard, std::uint32_t most) = 0;
  /// The oldest queued attempts of the job that may go.
  virtual std::vector<OutputName> take_attempts(std::uint32_t most,
                                                const std::function<bool(const OutputName&)>& may_go) = 0;
};

}  // namespace dag
