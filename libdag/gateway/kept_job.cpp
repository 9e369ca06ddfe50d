#include "libdag/gateway/kept_job.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"
#include "libdag/base/overloaded.hpp"

namespace dag {

// ---- The state

bool KeptJob::leads() const { return over() ? ended()->leads : std::holds_alternative<Leading>(state); }

bool KeptJob::begun() const {
  return std::visit(Overloaded{[](const Leading& led) { return led.stage == Leading::Stage::running; },
                               [](const auto& other) { return other.begun; }},
                    state);
}

JobPhase KeptJob::phase() const {
  if (over()) return ended()->how;
  return begun() ? JobPhase::running : JobPhase::starting;
}

KeptJob::Over& KeptJob::must_have_ended() {
  DAG_CHECK(over());
  return *ended();
}

void KeptJob::lead(bool has_begun) {
  DAG_CHECK(!leads());
  has_begun = has_begun || begun();
  if (Over* over = ended()) {
    over->leads = true;
    over->begun = has_begun;
  } else {
    state = Leading{has_begun ? Leading::Stage::running : Leading::Stage::starting};
  }
}

/// The next leader keeps the results of a job that is over, unless nobody may ask for them.
void KeptJob::follow() {
  if (Over* over = ended()) {
    over->leads = false;
    if (over->stage != Over::Stage::closed) over->stage = Over::Stage::stays;
  } else if (leads()) {
    state = Following{.begun = begun()};
  }
}

void KeptJob::begin() {
  Leading* const led = std::get_if<Leading>(&state);
  DAG_CHECK(led != nullptr);
  led->stage = Leading::Stage::running;
}

void KeptJob::end(JobPhase how, Instant now) {
  DAG_CHECK(how > JobPhase::running);
  DAG_CHECK(leads());
  Over over;
  over.how = how;
  over.at = now;
  over.begun = begun();
  state = std::move(over);
}

// ---- What follows from it

bool KeptJob::has_process() const {
  return std::any_of(workers.begin(), workers.end(),
                     [](const Worker& worker) { return worker.phase <= Worker::Phase::up; });
}

bool KeptJob::may_sleep() const {
  if (submitter || !cancelling.empty() || !again_at.empty()) return false;
  if (over() && (ended()->rest_at || !ended()->speaking.empty())) return false;
  if (is_closed()) return true;
  if (!leads()) return over() || leader.has_value();
  return is_at_rest() && earlier.empty() && !has_process();
}

std::optional<Instant> KeptJob::until() const {
  if (!client_until || !kept_until) return client_until ? client_until : kept_until;
  return std::min(*client_until, *kept_until);
}

}  // namespace dag
