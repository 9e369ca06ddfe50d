// A node's answers, as types, and the requests for them. Text in here comes from jobs and nodes: pages show
// it as text, never as HTML. All requests read; none changes a cluster.

export interface Failure {
  code: string;
  number?: number;
  what: string;
  hint?: string;
  /// A line per deeper cause.
  cause?: string;
}

export interface Counts {
  open: number;
  finished: number;
  failed: number;
  skipped: number;
  cancelled: number;
  /// Failed tasks that the job tolerates: it finishes nevertheless.
  tolerated: number;
}

export interface Device {
  kind: string;
  lanes: number;
  lanes_free: number;
  memory_bytes: number;
  memory_free_bytes: number;
  backlog_seconds: number;
}

export interface Node {
  node: string;
  life: string;
  state: string;
  draining: boolean;
  witness: boolean;
  disk_full: boolean;
  disk_stuck: boolean;
  sick: boolean;
  address: string;
  bulk_address: string;
  http: string | null;
  devices: Device[];
  tasks_ready: number;
  pid: number | null;
  jobs: number | null;
  not_ready: string[] | null;
}

export interface JobRow {
  job: string;
  name: string;
  phase: string;
  counts: Counts;
  age_seconds: number;
  processes?: number;
  leader?: string;
}

/// Nothing of an ended job changes any more, and its age is its duration.
export const isOver = (phase: string): boolean => ['finished', 'failed', 'cancelled'].includes(phase);

/// How `from` hears `to`.
export interface Link {
  from: string;
  to: string;
  suspect: boolean;
  in_trouble: boolean;
  /// Null: the node is taken for gone.
  heard_seconds_ago: number | null;
  round_trip_seconds: number | null;
}

export interface Cluster {
  time_unix_ms: number;
  seen_by: string;
  version: string;
  /// As for jobs and links, no more than 200 rows: nodes in trouble come first.
  nodes: Node[];
  nodes_beyond: number;
  nodes_alive: number;
  /// Lanes of all nodes that are alive.
  lanes: number;
  lanes_busy: number;
  jobs: JobRow[];
  jobs_beyond: number;
  jobs_open: number;
  missing: string[];
  missing_beyond: number;
  /// Nodes in trouble come first.
  links: Link[];
  links_beyond: number;
}

export const missingIn = (state: Cluster): string[] =>
  state.missing_beyond > 0 ? [...state.missing, `${state.missing_beyond} more`] : state.missing;

export interface JobsPage {
  jobs: JobRow[];
  total: number;
  /// Nodes that did not answer, each with why.
  missing?: string[];
}

export interface Worker {
  process: string;
  life: string;
  node: string;
  pid: number | null;
  up: boolean;
  end?: string;
}

export interface TroubledTask {
  task: string;
  name: string;
  outcome: string;
  tries: number;
  error: Failure | null;
  late_seconds: number;
}

export interface StageCounts {
  name: string;
  counts: Counts;
}

export interface JobDetails {
  tasks: TroubledTask[];
  tasks_beyond: number;
  late: number;
  classes: StageCounts[];
  others?: Counts;
  progress: KernelProgress[];
}

/// The last progress of a running kernel.
export interface KernelProgress {
  task: string;
  name: string;
  fraction: number;
  note: string;
}

export interface Job extends JobRow {
  /// As the job states it.
  total_tasks: number | null;
  workers: Worker[];
  /// Only in an event; an answer has all workers.
  workers_beyond?: number;
  copies: string[];
  error: Failure | null;
  details: JobDetails | null;
}

export interface Candidate {
  process: string;
  wait_seconds: number;
  transfer_seconds: number;
  run_seconds: number;
  /// Empty: it could run there.
  misfit: string;
}

export interface Reason {
  task: string;
  name: string;
  state: string;
  why: string;
  home: string;
  failures: number;
  waits_for: string[];
  waits_for_all: number;
  candidates: Candidate[] | null;
  error: Failure | null;
  outcome?: string;
  usual_seconds?: number;
  at?: string;
  /// The process's statement on a task that no lane of it runs.
  taken?: string;
  lane?: number;
  ran_seconds?: number;
  /// In the line for a lane there, from 1.
  place_in_queue?: number;
  /// `runs`: of how many that is told; 0: as stated.
  starts?: { in_seconds: number; least_seconds: number; most_seconds: number; runs: number };
  /// Abandoned kernels of the task that have not returned yet.
  given_up?: { at: string; lane: number; attempt: number; ran_seconds: number }[];
}

export interface BusyProcess {
  process: string;
  lanes: number;
  running: number;
  given_up: number;
  queued: number;
}

export interface Explained {
  /// Missing where only journals know it.
  job?: Job | null;
  over?: boolean;
  lines?: Line[];
  counts?: Record<string, number>;
  tasks?: Reason[];
  waits_in_the_end_for?: Reason[];
  waits_beyond?: boolean;
  processes?: BusyProcess[];
  silent?: string[];
}

export interface TimelineLane {
  lane: string;
  runs: number;
  busy_seconds: number;
  /// The busy share of each column.
  busy: number[];
  /// The name that took most of each column; -1: nothing ran.
  name: number[];
}

export interface Slice {
  /// Indices into the lanes.
  lane: number;
  /// Indices into the names.
  name: number;
  task: string;
  begin: number;
  seconds: number;
  outcome: string;
}

export interface Mark {
  at: number;
  place: string;
  text: string;
}

export interface Timeline {
  job: string;
  span_seconds: number;
  from: number;
  to: number;
  columns: number;
  runs: number;
  names: string[];
  lanes: TimelineLane[];
  slices: Slice[] | null;
  marks: Mark[];
  marks_beyond: number;
  notices: string[];
}

/// A box of the picture: a task, or several of one name.
export interface GraphNode {
  label: string;
  /// In a group whose names differ: the name of its first task.
  name: string;
  tasks: number;
  /// Null: a group.
  task: string | null;
  counts: Counts;
  ran_seconds: number;
  critical: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface GraphEdge {
  /// Into the nodes, as `to`.
  from: number;
  to: number;
  kind: 'strong' | 'weak' | 'conditional';
  edges: number;
  critical: boolean;
}

export interface Graph {
  job: string;
  name: string;
  tasks: number;
  edges_of_tasks: number;
  width: number;
  height: number;
  nodes: GraphNode[];
  edges: GraphEdge[];
  notices: string[];
}

export interface ReportClass {
  name: string;
  runs: number;
  failed: number;
  tasks: number;
  total_seconds: number;
  median_seconds: number;
  p99_seconds: number;
  longest_seconds: number;
}

export interface Straggler {
  task: string;
  name: string;
  lane: string;
  ran_seconds: number;
  median_seconds: number;
}

export interface ReportLane {
  lane: string;
  runs: number;
  busy_seconds: number;
}

/// In seconds, of all tasks together.
export interface Waiting {
  dependencies_seconds: number;
  resources_seconds: number;
  queue_seconds: number;
  transfer_seconds: number;
  retry_seconds: number;
  other_seconds: number;
  idle_seconds: number;
  idle_while_ready_seconds: number;
  idle_scattered_seconds: number;
}

export interface Report {
  waiting: Waiting | null;
  critical_path: { seconds: number } | null;
  delays: { median_seconds: number; p99_seconds: number };
  schedule: { seconds: number; with_one_more_lane_seconds: number } | null;
  job: string;
  tasks: number;
  runs: number;
  settled: number;
  span_seconds: number;
  busy_seconds: number;
  again_seconds: number;
  crashes: number;
  losses: number;
  retries: number;
  classes: ReportClass[];
  stragglers: Straggler[];
  stragglers_beyond: number;
  lanes: ReportLane[];
  notices: string[];
}

export interface Line {
  time: string;
  node: string;
  place: string;
  job: string;
  task?: string;
  name?: string;
  kind: string;
  text: string;
}

export interface Lines {
  lines: Line[];
  next: number | null;
  notices: string[];
}

/// Said, or printed where there is no task; or a gap, and why there is one.
export interface LogLine {
  time?: string;
  job: string;
  place: string;
  task?: string;
  name?: string;
  text?: string;
  gap?: string;
}

export interface LogLines {
  lines: LogLine[];
  older: number;
  notices: string[];
}

export interface PastJob {
  job: string;
  name: string;
  end: string;
  began?: string;
  tasks_submitted?: number;
  seconds?: number;
  over?: string;
  counts?: Counts;
  error?: Failure | null;
}

export interface PastJobs {
  jobs: PastJob[];
  notices: string[];
}

export type Parameters = Record<string, string | number | boolean | undefined>;

/// Paths are relative, so that a page behind somebody's proxy works under a prefix. What is empty is left
/// out.
export function address(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === '' || value === false) continue;
    query.set(name, value === true ? '1' : `${value}`);
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

export const jobPath = (job: string, part = ''): string =>
  `api/jobs/${encodeURIComponent(job)}${part === '' ? '' : `/${part}`}`;

export class Refused extends Error {
  constructor(readonly status: number, readonly failure: Failure) {
    super(failure.what);
  }
}

/// A node that gathers records of a large job from all nodes needs its time; one that is dead never answers.
const answerWithinMilliseconds = 30_000;

/// Throws Refused, whatever went wrong; a request that was aborted by its caller throws as fetch does.
export async function ask<Answer>(url: string, aborted?: AbortSignal): Promise<Answer> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), answerWithinMilliseconds);
  const abort = () => patience.abort();
  aborted?.addEventListener('abort', abort);
  try {
    const response = await fetch(url, { signal: patience.signal, headers: { Accept: 'application/json' } });
    const text = await response.text();
    let body: unknown = null;
    try {
      body = JSON.parse(text);
    } catch {
      // An answer that is no JSON is shown as it is: its text says more than an error about JSON.
    }
    const failure = (body as { error?: Failure } | null)?.error;
    if (!response.ok) {
      throw new Refused(response.status, failure ?? {
        code: `status ${response.status}`,
        what: text.trim().slice(0, 500) || 'the node gave no reason',
      });
    }
    if (body === null) throw new Refused(response.status, { code: 'no_json', what: 'the answer is no JSON' });
    return body as Answer;
  } catch (thrown) {
    if (thrown instanceof Refused || aborted?.aborted) throw thrown;
    throw new Refused(0, {
      code: 'no_answer',
      what: patience.signal.aborted ? 'the node did not answer within 30 s' : 'the node cannot be reached',
      hint: 'the page asks again; other nodes of the cluster serve the same page',
    });
  } finally {
    clearTimeout(timer);
    aborted?.removeEventListener('abort', abort);
  }
}
