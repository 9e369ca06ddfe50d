#pragma once
// A job that retries another: what it takes from the cell of that one, and whom it tells. The order to begin
// it (mail::Submit, mail::Record) goes from the NodeActor to that cell, and comes back with what is done.

#include "actors/mail.hpp"

namespace dag {

/// Completes the part of the order for `job`: the job that it retries came to `ended`.
void say_what_is_done(mail::Retry& retry, const CellSnapshot& ended, JobId job);
/// Results that are there from the start.
void tell_results(const mail::Retry& retry, const Follower& follower);
/// Offers outputs that are too large for the record. Before the first home asks for them.
void offer_outputs(const mail::Retry& retry, const caf::actor& runner);

}  // namespace dag
