// Bundles the web UI: `node build.mjs [DIRECTORY]` writes index.html, app.js and app.css, by default to where
// the C++ build embeds them from. The same sources and the same package-lock.json give the same bytes, so a
// test can build elsewhere and compare; it fails when the three together would be larger, compressed, than a
// node may carry.

import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const directory = resolve(process.argv[2] ?? join(here, '../../../nodes/http/ui'));
const compressedBytesMax = 60_000;

mkdirSync(directory, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { app: 'source/main.tsx' },
  outdir: directory,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
});
copyFileSync(join(here, 'source/index.html'), join(directory, 'index.html'));

let total = 0;
for (const name of ['index.html', 'app.js', 'app.css']) {
  const bytes = readFileSync(join(directory, name));
  const compressed = gzipSync(bytes, { level: 9 }).length;
  total += compressed;
  console.log(`${name}: ${bytes.length} bytes, ${compressed} gzipped`);
}
console.log(`together ${total} of ${compressedBytesMax} bytes gzipped`);
if (total > compressedBytesMax) {
  console.error('too large: a node carries it in its binary, and it must load through an ssh tunnel');
  process.exit(1);
}
