#pragma once
// Brings each message of a job to the machine of this process that it is for, and decides when a home begins
// and ends here. It knows which homes there are, and no machine: a JobHere carries its routes out.
//
// A home begins
//   - with the first state that names this process, if the job goes on and the shard is new (epoch count 1);
//   - with an Assign, when the newest state says that this process has the shard in that epoch.
// A home ends when a state gives its shard to another process, when an Assign of a newer epoch comes, and
// when the job is over.
//
// Each state goes to the runner first, then to the homes that are here; homes that it begins know it already.
// Afterwards the messages that waited at the door are judged again, in their order.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "libdag/job/door.hpp"
#include "libdag/job/messages.hpp"

namespace dag {

/// A message for a machine of this process. A JobState is for the runner, and for each home.
struct HandOn {
  Recipient to = Recipient::process;
  std::uint32_t shard = 0;  ///< for homes
  Life from;
  JobMessage message;
};
/// Without an Assign it is the shard's first home.
struct BeginHome {
  std::uint32_t shard = 0;
  Epoch epoch;
  std::optional<message::Assign> assign;
  message::JobState state;  ///< that it begins with
};
struct EndHome {
  std::uint32_t shard = 0;
};
/// An idle process asks for rows. The homes are asked in this order, the runner last: it may have rows that
/// homes elsewhere lent.
struct AskedForWork {
  Life thief;
  std::uint32_t slots = 0;
  std::vector<std::uint32_t> homes;
};
/// Another process has lent something to this one.
struct WorkCame {
  Life from;
};
/// Nobody will ask for anything of the job here. No route follows.
struct JobOver {};
using JobRoute = std::variant<HandOn, BeginHome, EndHome, AskedForWork, WorkCame, JobOver>;

class JobRouter {
 public:
  explicit JobRouter(Life self) : self_(self), door_(self) {}

  /// Messages wait until it is known here what the job is.
  void open();
  bool is_open() const { return open_; }
  Admission on_message(Life from, JobMessage message);
  /// To be carried out in order.
  std::vector<JobRoute> take_routes() { return std::exchange(routes_, {}); }

  const message::JobState& state() const { return state_; }
  bool is_over() const { return over_; }
  /// The homes that are here, when all routes are carried out.
  const std::map<std::uint32_t, Epoch>& homes() const { return homes_; }
  std::size_t waiting() const { return door_.waiting(); }
  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  Admission judge(Life from, const JobMessage& message) const;
  void route(Life from, JobMessage&& message);
  void on_state(Life from, const message::JobState& state);
  void dispatch_state(Life from);
  void begin_first_homes();
  void on_assign(message::Assign&& assign);
  void on_steal_request(Life thief, std::uint32_t slots);
  void begin_home(std::uint32_t shard, Epoch epoch, std::optional<message::Assign> assign);
  void end_home(std::uint32_t shard);
  void end_job();
  void look_again();

  Life self_;
  bool open_ = false;
  bool over_ = false;
  Door door_;
  message::JobState state_;
  std::map<std::uint32_t, Epoch> homes_;
  std::uint32_t next_home_asked_ = 0;
  std::vector<JobRoute> routes_;
};

}  // namespace dag
