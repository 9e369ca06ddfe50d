// Runs the browser tests against real nodes: `node tests/web/run.mjs [PART OF A NAME]...`, those whose name
// contains one of the parts. Exit status 77: they cannot run here, and what is missing is said.
//
// Needs DAG_BIN, the folder of the built programs. DAG_CHROMIUM names a browser, DAG_SCREENSHOTS a folder
// that gets pictures of all pages.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromiumProgram, modulesAreHere, startBrowser } from './chromium.mjs';
import { patient } from './conditions.mjs';
import { Nodes } from './nodes.mjs';

const files = ['bundle', 'live', 'failing_job', 'keyboard', 'looks', 'stream', 'answers', 'large_job', 'node_killed'];
const limitMilliseconds = patient(240_000);

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}

if (!modulesAreHere()) skip('no node_modules: npm ci in tools/inspector/web');
if (chromiumProgram() === null) skip('no Chromium: install chromium, or name one in DAG_CHROMIUM');
if (!process.env.DAG_BIN || !existsSync(join(process.env.DAG_BIN, 'dagd'))) {
  console.error('DAG_BIN must name the folder of the built programs, with dagd in it');
  process.exit(2);
}

const parts = process.argv.slice(2);
const cases = [];
for (const file of files) {
  const { cases: more } = await import(`./${file}.test.mjs`);
  for (const [name, run] of Object.entries(more)) {
    const whole = `${file}: ${name}`;
    if (parts.length === 0 || parts.some((part) => whole.includes(part))) cases.push([whole, run]);
  }
}

// nodes.mjs ends all processes that were started when this process exits.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

const browser = await startBrowser();
let shared = null;
const tools = {
  browser,
  /// Three nodes that all tests use which do them no harm.
  nodes: async () => (shared ??= await Nodes.start(3)),
};
let failures = 0;
try {
  for (const [name, run] of cases) {
    const began = performance.now();
    let timer;
    const late = new Promise((_done, failed) => {
      const error = new Error(`not over after ${limitMilliseconds / 1000} s`);
      timer = setTimeout(() => failed(error), limitMilliseconds);
    });
    try {
      await Promise.race([run(tools), late]);
      console.log(`ok      ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
    } catch (thrown) {
      ++failures;
      console.log(`FAILED  ${name}\n        ${thrown.stack ?? thrown}`);
    } finally {
      clearTimeout(timer);
    }
  }
} finally {
  await browser.close();
  await shared?.end();
}
console.log(`${cases.length - failures} of ${cases.length} are as they should be`);
process.exit(failures === 0 && cases.length > 0 ? 0 : 1);
