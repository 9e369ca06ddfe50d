#pragma once
// What is attached to a job's record for whoever leads it, as the bytes that the record keeps.

#include "dag/blob.hpp"
#include "libdag/keeper/messages.hpp"

namespace dag {

Blob bytes_of(const Submission& submission);
/// Throws Failure (log_damaged) when it is none.
Submission submission_of(const Blob& bytes);

}  // namespace dag
