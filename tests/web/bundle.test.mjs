// The committed bundle is what the sources give.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sources } from './chromium.mjs';
import { check } from './conditions.mjs';

const committed = fileURLToPath(new URL('../../nodes/http/ui/', import.meta.url));
const names = ['index.html', 'app.js', 'app.css'];

export const cases = {
  async 'the committed bundle is what its sources give'() {
    const directory = mkdtempSync(join(tmpdir(), 'dag-web-bundle-'));
    try {
      // Says itself when the three are too large.
      execFileSync(process.execPath, [join(sources, 'build.mjs'), directory]);
      for (const name of names) {
        const same = readFileSync(join(directory, name)).equals(readFileSync(join(committed, name)));
        check(same, `${name} is not what its sources give: npm run build in tools/inspector/web, and commit`);
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },

  async 'nodes serve that bundle'({ nodes }) {
    const cluster = await nodes();
    for (const [path, name] of [['', 'index.html'], ['app.js', 'app.js'], ['app.css', 'app.css']]) {
      const response = await fetch(cluster.url() + path);
      const served = Buffer.from(await response.arrayBuffer());
      const same = served.equals(readFileSync(join(committed, name)));
      check(response.ok && same, `a node serves another ${name}`);
    }
  },

  async 'nothing in it leads elsewhere'() {
    for (const name of names) {
      const text = readFileSync(join(committed, name), 'utf8');
      const links = text.match(/https?:\/\/[^"'`\s)\\]+/g) ?? [];
      const others = links.filter((link) => !link.startsWith('http://www.w3.org/'));
      check(others.length === 0, `${name} names other hosts: ${others.join(', ')}`);
    }
  },
};
