#pragma once
// Data attached to a job's record for the leader, and the bytes that the record keeps.

#include "dag/blob.hpp"
#include "libdag/keeper/messages.hpp"

namespace dag {

Blob bytes_of(const Submission& submission);
/// Throws Failure (log_damaged) when the bytes are no submission.
Submission submission_of(const Blob& bytes);

}  // namespace dag
