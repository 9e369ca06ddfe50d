#pragma once
// The lanes' events of a process with a transport, as process_events.hpp has the transport's: edges and
// handed-over outputs go to other processes, news of ends to the node actor, lines of kernels into notes.

#include <memory>

#include "actors/lanes/lanes.hpp"
#include "actors/mail.hpp"
#include "nodes/process/job_notes.hpp"
#include "nodes/transport/transport.hpp"

namespace dag {

class ProcessLaneEvents : public LaneEvents {
 public:
  /// The process makes the node actor and the transport after its lanes: they are read when a lane has news.
  ProcessLaneEvents(Life self, const caf::actor& node, const std::unique_ptr<Transport>& transport)
      : self_(self), node_(node), transport_(transport) {}

  bool tells_by_link() const override { return true; }
  void send_edges(Life to, std::vector<EdgeNews>&& news) override { transport_->send(to, std::move(news)); }
  std::function<void()> returned(Life owner, std::uint64_t number) override {
    return transport_->hands_back(owner, number);
  }
  void dry() override { caf::anon_send(node_, mail::Dry{}); }
  void edge_news(std::optional<Life> from, message::PredecessorEnded&& news) override {
    caf::anon_send(node_, mail::Arrived{from.value_or(self_), {std::move(news)}, [] {}});
  }
  void log(const Speaker& by, std::string_view line) override {
    note(note_by(by, wire::JobNote::Kind::log, line));
  }
  bool follows_progress() const override { return true; }
  void progress(const Speaker& by, double fraction, std::string_view text) override {
    note(note_by(by, wire::JobNote::Kind::progress, text, fraction));
  }

 private:
  virtual void note(wire::JobNote note) = 0;

  const Life self_;
  const caf::actor& node_;
  const std::unique_ptr<Transport>& transport_;
};

}  // namespace dag
