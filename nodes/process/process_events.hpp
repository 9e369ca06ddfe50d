#pragma once
// The transport's events of a process with lanes: rings, edges and handed-over outputs go to the lanes,
// messages to the node actor, news of other processes to the membership actor, lines to the log.

#include <spdlog/spdlog.h>

#include "actors/lanes/lanes.hpp"
#include "actors/mail.hpp"
#include "nodes/transport/membership_door.hpp"

namespace dag {

class ProcessEvents : public MemberEvents {
 public:
  ProcessEvents(MembershipDoor& door, const caf::actor& node, Lanes& lanes,
                std::shared_ptr<spdlog::logger> logger)
      : MemberEvents(door), node_(node), lanes_(lanes), logger_(std::move(logger)) {}

  bool has_lanes() const override { return true; }
  void arrived(Life from, std::vector<JobMessage> messages, std::function<void()> handled) override {
    caf::anon_send(node_, mail::Arrived{from, std::move(messages), std::move(handled)});
  }
  void edges(Life from, std::vector<EdgeNews>&& news) override { lanes_.hear(from, std::move(news)); }
  void ring_up(Life peer, std::shared_ptr<ring::RingCarrier> carrier) override {
    logger_->info("edges to {} go by a ring", to_string(peer));
    lanes_.add_ring(peer, std::move(carrier));
  }
  void ring_down(Life peer) override {
    logger_->info("the ring with {} is gone", to_string(peer));
    lanes_.remove_ring(peer);
  }
  void handed_back(Life peer, std::uint64_t number) override { lanes_.take_back(peer, number); }
  void life_over(Life life) override { lanes_.life_over(life); }
  void log(std::string_view line) override { logger_->warn("{}", line); }
  void remark(std::string_view line) override { logger_->debug("{}", line); }

 private:
  const caf::actor& node_;
  Lanes& lanes_;
  const std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace dag
