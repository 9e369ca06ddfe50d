// The page's knowledge of its job, shared by its tabs.

import type { Failure, Job } from '../api';

export interface Known {
  id: string;
  state: Job | null;
  /// Why `state` is null, when the cluster has answered.
  failure: Failure | null;
  over: boolean;
}
