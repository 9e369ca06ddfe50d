// The cluster: its nodes, how busy they are, and the jobs that run.

import { type Device, type Link, type Node, isOver, missingIn } from '../api';
import { bytes, plural, whole } from '../format';
import { gone } from '../gone';
import { cluster } from '../stream';
import { JobTable } from '../parts/job_table';
import { Share, Sign, Warning } from '../parts/signs';
import { type Column, Table, counted, textual, timed } from '../parts/table';
import { UtilisationPlot } from '../parts/utilisation_plot';

const sum = (devices: Device[], of: (device: Device) => number): number =>
  devices.reduce((so_far, device) => so_far + of(device), 0);

function flags(node: Node): string[] {
  const all: [boolean, string][] = [
    [node.draining, 'draining'], [node.witness, 'witness'], [node.disk_full, 'disk full'],
    [node.disk_stuck, 'disk stuck'], [node.sick, 'sick'],
  ];
  return [...all.filter(([is]) => is).map(([, name]) => name), ...(node.not_ready ?? [])];
}

function Lanes({ node }: { node: Node }) {
  if (node.state !== 'alive' && node.state !== 'suspect') return <>–</>;
  if (node.devices.length === 0) return <>none</>;
  return (
    <>
      {node.devices.map((device, index) => (
        <div key={index}>
          <Share part={device.lanes - device.lanes_free} all={device.lanes}
            text={`${whole(device.lanes - device.lanes_free)}/${whole(device.lanes)} ${device.kind}`} />
        </div>
      ))}
    </>
  );
}

function Memory({ devices }: { devices: Device[] }) {
  const all = sum(devices, (device) => device.memory_bytes);
  const used = all - sum(devices, (device) => device.memory_free_bytes);
  if (all === 0) return <>–</>;
  return <Share part={used} all={all} text={`${bytes(used)} of ${bytes(all)}`} />;
}

/// A node's own statement of its address: shown as a link only when it is one to a page.
function Own({ http }: { http: string | null }) {
  if (http === null || !/^https?:\/\//.test(http)) return <>{http ?? '–'}</>;
  return <a href={http}>{http.replace(/^https?:\/\//, '').replace(/\/$/, '')}</a>;
}

const columns: Column<Node>[] = [
  { title: 'Node', cell: (node) => <b>{node.node}</b>, by: (node) => node.node },
  { title: 'State', by: (node) => node.state, cell: (node) => (
    <span class="flags">
      <Sign of={node.state} />
      {flags(node).map((flag) => (
        flag === 'witness'
          ? <span key={flag} class="sign quiet">◇ witness</span> : <Warning key={flag}>{flag}</Warning>
      ))}
    </span>
  ) },
  { title: 'Lanes busy', cell: (node) => <Lanes node={node} /> },
  counted('Ready', (node) => node.tasks_ready),
  timed('Backlog', (node) => sum(node.devices, (device) => device.backlog_seconds)),
  { title: 'Jobs led', number: true, cell: (node) => (node.jobs === null ? '–' : whole(node.jobs)),
    by: (node) => node.jobs ?? -1 },
  { title: 'Memory', cell: (node) => <Memory devices={node.devices} /> },
  textual('Address', (node) => node.address),
  { title: 'Web UI', cell: (node) => <Own http={node.http} /> },
];

const trouble = (link: Link): string =>
  link.heard_seconds_ago === null ? 'not heard' : link.suspect ? 'suspect' : 'late';

const linkColumns: Column<Link>[] = [
  textual('Node', (link) => link.from),
  { title: 'Hears', by: (link) => link.to, cell: (link) => (
    <span class="flags">{link.to} {link.in_trouble && <Warning>{trouble(link)}</Warning>}</span>
  ) },
  timed('Last heard', (link) => link.heard_seconds_ago ?? Infinity),
  timed('Round trip', (link) => link.round_trip_seconds ?? Infinity),
];

export function ClusterPage() {
  const state = cluster.value;
  if (state === null) {
    return <><h1 tabIndex={-1}>Cluster</h1><p class="quiet">Waiting for the node’s first answer.</p></>;
  }
  const running = state.jobs.filter((job) => !isOver(job.phase));
  return (
    <>
      <h1 tabIndex={-1}>Cluster</h1>
      <p class="lead">
        {whole(state.nodes_alive)} of {plural(state.nodes.length + state.nodes_beyond, 'node')} alive,
        {' '}{whole(state.lanes_busy)} of {plural(state.lanes, 'lane')} busy,
        {' '}{plural(state.jobs_open, 'job')} not over. <span class="quiet">libdag {state.version}</span>
      </p>
      {state.missing.length > 0 && (
        <div class="warning" role="alert">
          <p><span aria-hidden="true">⚠ </span>Not all nodes answered. Their jobs and tasks are missing here.</p>
          <ul>{missingIn(state).map((text) => <li key={text}>{text}</li>)}</ul>
        </div>
      )}
      {gone.value.size > 0 && (
        <div class="warning" role="alert">
          <p><span aria-hidden="true">✕ </span>Some nodes are gone.</p>
          <ul>{[...gone.value].map(([node, since]) => (
            <li key={node}>{node} is gone since {new Date(since).toLocaleTimeString('en-GB')}</li>
          ))}</ul>
        </div>
      )}
      <section>
        <h2>Nodes</h2>
        <Table title="Nodes" titleUnseen rows={state.nodes} columns={columns} beyond={state.nodes_beyond}
          identity={(node) => `${node.node} ${node.life}`}
          empty="No nodes are known." how="`dag node list` lists all." />
      </section>
      <section>
        <h2>Utilisation</h2>
        <UtilisationPlot />
      </section>
      <section>
        <h2>Links</h2>
        <Table title="Links" titleUnseen rows={state.links} columns={linkColumns} beyond={state.links_beyond}
          identity={(link) => `${link.from} ${link.to}`} empty="There is only one node." />
      </section>
      <section>
        <h2>Running jobs</h2>
        <JobTable title="Running jobs" titleUnseen jobs={running} empty="None. `dag submit` starts one."
          beyond={state.jobs_open - running.length} how={<a href="#/jobs">All jobs</a>} />
      </section>
    </>
  );
}
