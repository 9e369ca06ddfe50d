#pragma once
// What a victim answers to requests that may be lost, repeated, or late. Decides whether a request is new;
// which tasks are given is ready_queue.hpp's, that a task once given is not run here is the home's.
//
// StealRequest{request, slots}  thief -> victim. May be lost or repeated; a repeat keeps its number. Slots is
// not zero. Grant{request, tasks}         victim -> thief, no tasks: "I have nothing for you". A repeated
// request gets the same
//                               answer, so a task is never given twice, nor lost with an answer. An older
//                               number than the last one gets none: its thief has stopped waiting for it.
// It ends because each request is answered at once from what lies here, and a thief has one request open at a
// time, so one answer per thief is remembered. When the thief dies the home takes back what it had (child
// down), and the book forgets it.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/stealing/ready_queue.hpp"

namespace dag {

class GrantBook {
 public:
  /// One per life that is up; more than the cluster can have are not answered.
  static constexpr std::size_t thieves_max = 4096;
  /// A grant is one message.
  static constexpr std::uint32_t tasks_per_grant_max = 64;

  struct Answer {
    std::uint64_t request = 0;
    std::vector<ReadyTask> tasks;
    /// These were given before: whoever answers must not count them as lent once more.
    bool is_repeat = false;
    bool operator==(const Answer&) const = default;
  };
  /// Empty: not to be answered. Takes what is granted out of the queue.
  std::optional<Answer> on_request(Life thief, std::uint64_t request, std::uint32_t slots, ReadyQueue& queue);
  void on_member_down(Life thief) { last_.erase(thief); }

 private:
  std::map<Life, Answer> last_;
};

}  // namespace dag
