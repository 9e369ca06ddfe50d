#include "actors/retrying.hpp"

namespace dag {

void say_what_is_done(mail::Retry& retry, const CellSnapshot& ended, JobId job) {
  OutputsHeld held;
  for (const client::TaskSettled& settled : retry.of.outputs) {
    if (settled.outcome == Outcome::finished && settled.output) held[settled.task] = settled.output;
  }
  retry.begins = retried(ended, job, held);
}

void tell_results(const mail::Retry& retry, JobId job, JobListener& listener) {
  for (const client::TaskSettled& settled : retry.of.outputs) {
    if (settled.outcome == Outcome::finished && retry.begins->done[settled.task])
      listener.settled(job, settled.task, settled.outcome, settled.output, settled.error);
  }
}

void offer_outputs(const mail::Retry& retry, const caf::actor& job) {
  for (const Retried::Held& held : retry.begins->held)
    caf::anon_send(job, mail::Publish{held.record, held.bytes});
}

}  // namespace dag
