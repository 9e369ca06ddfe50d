// The dependencies of a job's tasks, by the journals: a picture that the node has laid out, in groups where
// there are many tasks, and the same as a table.

import { type Graph, type GraphNode, jobPath } from '../api';
import { useAnswer } from '../answer';
import { GraphLegend, GraphPicture, explainLink } from '../parts/graph_picture';
import { Failures, Notices, Problem } from '../parts/signs';
import { Table, counted, timed } from '../parts/table';
import type { Known } from './known';

const everyMilliseconds = 2000;

function BoxTable({ id, graph }: { id: string; graph: Graph }) {
  // Two boxes may have the same label.
  const rows = graph.nodes.map((node, index) => ({ ...node, index }));
  return (
    <details>
      <summary>As a table</summary>
      <Table title="Boxes" rows={rows} identity={(node) => `${node.index}`} empty=""
        how="Sort by a column to see others, or look up a task in the tab Explain."
        columns={[
          { title: 'Name', by: (node) => node.label,
            cell: (node) => <a href={explainLink(id, node)}><span class="name">{node.label}</span></a> },
          counted<GraphNode>('Tasks', (node) => node.tasks),
          counted<GraphNode>('Finished', (node) => node.counts.finished),
          { title: 'Failed', number: true, by: (node) => node.counts.failed,
            cell: (node) => <Failures count={node.counts.failed} /> },
          counted<GraphNode>('Left out', (node) => node.counts.skipped + node.counts.cancelled),
          counted<GraphNode>('Open', (node) => node.counts.open),
          timed<GraphNode>('Time taken', (node) => node.ran_seconds),
          { title: 'Critical', by: (node) => (node.critical ? 0 : 1),
            cell: (node) => (node.critical ? <b>yes</b> : 'no') },
        ]} />
    </details>
  );
}

export function JobGraph({ id, over }: Known) {
  const answer = useAnswer<Graph>(jobPath(id, 'graph'), { everyMilliseconds: over ? 0 : everyMilliseconds });
  const { data } = answer;
  return (
    <>
      {answer.failure !== null && <Problem failure={answer.failure} title="No graph" />}
      <Notices notices={data?.notices} />
      {data === null && answer.failure === null && <p class="quiet">Reading the journals of all nodes.</p>}
      {data !== null && data.nodes.length === 0 && (
        <>
          <p>The journals do not have this job’s graph.</p>
          <p class="hint"><b>Hint:</b> a node keeps it unless it was started with{' '}
            <code>--journal false</code>.</p>
        </>
      )}
      {data !== null && data.nodes.length > 0 && (
        <>
          <GraphPicture id={id} graph={data} reload={answer.reload} />
          <GraphLegend />
          <BoxTable id={id} graph={data} />
        </>
      )}
    </>
  );
}
