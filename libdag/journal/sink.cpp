#include "libdag/journal/sink.hpp"

namespace dag {

void CollectingEventSink::record(const JournalEvent& record) {
  if (records_max_ == 0) {
    ++dropped_;
    return;
  }
  if (records_.size() == records_max_) {
    records_.pop_front();
    ++dropped_;
  }
  records_.push_back(record);
}

}  // namespace dag
