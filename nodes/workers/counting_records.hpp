#pragma once
// Counts the events of a worker process on their way to a journal, for monitoring, in the page that the
// process shares with its node. Decides which records tell of a wait.

#include <memory>
#include <utility>

#include "actors/lanes/running_page.hpp"
#include "libdag/journal/sink.hpp"

namespace dag {

class CountingRecords final : public EventSink {
 public:
  /// The page outlives it. Records that `to` does not want are not made, and so not counted.
  CountingRecords(RunningPage& page, std::unique_ptr<EventSink> to)
      : EventSink(to->listens()), page_(page), to_(std::move(to)) {}

  void record(const JournalEvent& record) override {
    if (const auto* came = std::get_if<event::InputsCame>(&record.what)) {
      page_.inputs_came(came->bytes, came->took);
    } else if (const auto* retried = std::get_if<event::Retried>(&record.what)) {
      page_.paused(retried->pause);
    }
    to_->record(record);
  }
  void record_finished(const JournalEvent& many) override { to_->record_finished(many); }

 private:
  RunningPage& page_;
  const std::unique_ptr<EventSink> to_;
};

}  // namespace dag
