// A link that leads nowhere.

export function UnknownPage({ path }: { path: string }) {
  return (
    <>
      <h1 tabIndex={-1}>No such page</h1>
      <p>There is nothing at <code>{path}</code>. <a href="#/">Cluster</a>, <a href="#/jobs">jobs</a>,{' '}
        <a href="#/history">history</a>.</p>
    </>
  );
}
