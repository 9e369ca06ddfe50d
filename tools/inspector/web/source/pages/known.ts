// What a job's page knows of the job, and each of its tabs goes by.

import type { Failure, Job } from '../api';

export interface Known {
  id: string;
  state: Job | null;
  /// Why `state` is null, when the cluster has answered.
  failure: Failure | null;
  over: boolean;
}
