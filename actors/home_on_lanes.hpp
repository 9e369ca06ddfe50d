#pragma once
// A home whose rows the lanes of this process run: gives them the rows, tells the home's placement how busy
// they are, and tells lanes that spawn how far the home is ahead of the record. Decides nothing itself.

#include <memory>
#include <optional>

#include "actors/lanes/lanes_port.hpp"
#include "actors/mail.hpp"
#include "actors/ports.hpp"
#include "libdag/here/home_here.hpp"
#include "libdag/home/finish_placer.hpp"

namespace dag {

class HomeOnLanes final : public HomeHere {
 public:
  /// The lanes outlive it.
  static std::unique_ptr<HomeOnLanes> make(HomeOptions options, const std::shared_ptr<const JobPlan>& plan,
                                           LanesPort& lanes, EventSink& records, const Ports& ports);
  /// The rows go when the last lane is out of them.
  ~HomeOnLanes() override;
  std::optional<Duration> mean_run() const override { return placer_->mean_run(); }

  LaneShard& shard() { return *shard_; }
  void on_loads(const mail::Loads& loads);
  /// Before each event of the home.
  void look_at_lanes();
  /// Lanes wait for this credit before they report spawned tasks. After each event of the home.
  void say_ahead();

 private:
  HomeOnLanes(HomeOptions options, const std::shared_ptr<const JobPlan>& plan,
              std::shared_ptr<LaneShard> shard, LanesPort& lanes, EventSink& records,
              std::unique_ptr<HomePlacement> placement, FinishPlacer& placer);
  void say_ahead(SpawnLoad ahead);

  LanesPort& lanes_;
  std::shared_ptr<LaneShard> shard_;
  FinishPlacer* placer_;  ///< `home` owns it
  SpawnLoad ahead_;       ///< as the lanes know it
};

}  // namespace dag
