#pragma once
// A replica's changes as records of the node's log (libdag/log), and back: all logs of a node share one file.

#include <functional>
#include <map>

#include "libdag/base/result.hpp"
#include "libdag/consensus/stored.hpp"
#include "libdag/log/format.hpp"

namespace dag::consensus {

/// One record for a vote or a snapshot, one for each entry. The payload is valid only during the call.
void each_record(JobId job, const StoredChange& change,
                 const std::function<void(const log::Record&)>& append);

/// What a node's log says of all its jobs, record by record, in their order.
class StoredLogs {
 public:
  /// log_damaged: what the record says cannot be, after those before it; it was not written by this code.
  Status take(const log::Record& record);
  /// What was begun here.
  std::map<JobId, Stored> release() { return std::move(logs_); }

 private:
  std::map<JobId, Stored> logs_;
};

}  // namespace dag::consensus
