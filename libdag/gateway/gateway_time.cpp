// A gateway's deadlines: what it does when time has passed, and when it must be woken.

#include "libdag/gateway/gateway.hpp"

namespace dag {

void GatewayMachine::on_time(Instant now) {
  answer_early(now);
  look_at_retries(now);
  jobs_.wake_due(now);
  for (const JobId id : jobs_.awake()) {
    KeptJob& job = jobs_.at(id);
    if (job.submitter && now >= job.accepted + accept_within) {
      std::get<KeptJob::Following>(job.state).refused = true;
      const auto [client, number] = *std::exchange(job.submitter, std::nullopt);
      refuse(client, number,
             {ErrorCode::no_quorum,
              "less than a majority of the nodes that are to hold the record of " + to_string(id) +
                  " have it after 10 s",
              "`dag node list` shows which nodes are up; check `dag ls` before you submit the job again"});
    }
    refuse_cancelling(id, job, now);
    if (KeptJob::Over* const over = job.ended()) {
      if (!over->speaking.empty() && now >= over->ask_speaking_at) ask_speaking(id, job, now);
      if (over->rest_at && now >= *over->rest_at) {
        over->rest_at.reset();
        rest_if_gathered(id, job);
      }
    }
    for (std::optional<Instant>* until : {&job.client_until, &job.kept_until}) {
      if (!*until || now < **until) continue;
      until->reset();
      close_if_unwanted(id, job);
    }
  }
  std::size_t asked = 0;
  for (const JobId id : jobs_.awake()) {
    look_who_is_apart(id, jobs_.at(id), now);
    look_for_room(id, jobs_.at(id), asked, now);
  }
  look_at_spreading(now);
  answer_explained(now);
}

std::optional<Instant> GatewayMachine::wake_at() const {
  std::optional<Instant> wake = explaining_.wake_at();
  if (!retries_waiting_.empty() && (!wake || look_at_retries_at_ < *wake)) wake = look_at_retries_at_;
  if (const auto due = jobs_.due(); due && (!wake || *due < *wake)) wake = due;
  for (const JobId id : jobs_.awake()) {
    const KeptJob& job = jobs_.at(id);
    const KeptJob::Over* const over = job.ended();
    for (const auto& until : {job.until(), over == nullptr ? std::nullopt : over->rest_at}) {
      if (until && (!wake || *until < *wake)) wake = until;
    }
    const bool speaks = over != nullptr && !over->speaking.empty();
    if (speaks && (!wake || over->ask_speaking_at < *wake)) wake = over->ask_speaking_at;
    const Instant accept = job.accepted + accept_within;
    if (job.submitter && (!wake || accept < *wake)) wake = accept;
    for (const Cancelling& one : job.cancelling) {
      if (!wake || one.until < *wake) wake = one.until;
    }
    if (const auto at = apart_at(job); at && (!wake || *at < *wake)) wake = at;
    for (const auto& [node, at] : job.again_at) {
      if (!wake || at < *wake) wake = at;
    }
  }
  for (const Spreading& one : spreading_) {
    if (!wake || one.until < *wake) wake = one.until;
  }
  if (began_ && !asked_early_.empty()) {
    const Instant alone = *began_ + meets_peers_within;
    if (!wake || alone < *wake) wake = alone;
  }
  return wake;
}

}  // namespace dag
