#pragma once
// A job that retries another: the results it takes from that job's cell, and the clients it tells. Its order
// to begin (mail::Submit, mail::Record) goes from the NodeActor to that cell and back, with the results.

#include "actors/mail.hpp"

namespace dag {

/// Completes the part of the order for `job`: the job that it retries ended as `ended`.
void say_what_is_done(mail::Retry& retry, const CellSnapshot& ended, JobId job);
/// Results that `job` has from the start.
void tell_results(const mail::Retry& retry, JobId job, JobListener& listener);
/// Offers outputs that are too large for the record. Before the first home asks for them.
void offer_outputs(const mail::Retry& retry, const caf::actor& job);

}  // namespace dag
