// Real nodes for the tests: dagd processes on loopback with folders of their own, and jobs in them. All that
// is started here is ended here, and nothing else.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patient, until } from './conditions.mjs';

const program = (name) => join(process.env.DAG_BIN, name);

let portsAsked = 0;

/// A port on loopback that nobody listens on, as libdag/client/free_port.hpp: not one that systems give to
/// connecting processes, since a node that is killed and comes back must find it free.
async function freePort() {
  for (;;) {
    const port = 10_000 + ((process.pid * 16 + portsAsked++) % 20_000);
    const server = createServer();
    const free = await new Promise((done) =>
      server.once('error', () => done(false)).listen(port, '127.0.0.1', () => done(true)));
    if (!free) continue;
    await new Promise((done) => server.close(done));
    return port;
  }
}

/// Ended with this process, however that ends, unless it is killed itself.
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/// A child with what it said so far.
class Child {
  constructor(words, environment = {}) {
    this.name = words.join(' ');
    this.said = '';
    this.process = spawn(words[0], words.slice(1), {
      env: { ...process.env, DAG_ADDRESS: '', ...environment }, stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this.process);
    const hear = (bytes) => (this.said = (this.said + bytes).slice(-200_000));
    this.process.stdout.on('data', hear);
    this.process.stderr.on('data', hear);
    this.over = new Promise((done) => {
      this.process.once('error', (error) => {
        this.said += error.message;
        done(-1);
      });
      this.process.once('close', (status) => done(status ?? -1));
    });
    this.hasEnded = false;
    this.over.then(() => {
      this.hasEnded = true;
      running.delete(this.process);
    });
  }

  async says(pattern, limitMilliseconds = 30_000) {
    try {
      return await until(`${this.name} says ${pattern}`, () => {
        if (this.hasEnded && !pattern.test(this.said)) throw new Error('it has ended');
        return this.said.match(pattern);
      }, limitMilliseconds);
    } catch (thrown) {
      throw new Error(`${thrown.message}; it said: ${this.said.slice(-3000)}`);
    }
  }

  async end(signal = 'SIGTERM') {
    if (this.hasEnded) return;
    this.process.kill(signal);
    const late = setTimeout(() => this.process.kill('SIGKILL'), patient(10_000));
    await this.over;
    clearTimeout(late);
  }
}

export class Nodes {
  /// Until each node's page answers, and the first one sees all.
  static async start(count, { lanes = 2 } = {}) {
    const nodes = new Nodes();
    nodes.lanes = lanes;
    nodes.directory = mkdtempSync(join(tmpdir(), 'dag-web-'));
    nodes.children = [];
    nodes.jobs = [];
    nodes.addresses = [];
    nodes.ports = [];
    try {
      for (let id = 0; id < count; ++id) {
        nodes.addresses.push(`127.0.0.1:${await freePort()}`);
        nodes.ports.push(await freePort());
      }
      for (let id = 0; id < count; ++id) await nodes.startNode(id);
      await until(`all ${count} nodes see each other`, async () => {
        const { nodes: seen } = await nodes.ask('api/cluster');
        return seen.filter((one) => one.state === 'alive').length === count;
      }, 60_000);
    } catch (thrown) {
      await nodes.end();
      throw thrown;
    }
    return nodes;
  }

  /// Starts a node that is not there, or was killed; at the same ports as before.
  async startNode(id) {
    const folder = join(this.directory, `n${id}`);
    mkdirSync(folder, { recursive: true });
    const peers = this.addresses.filter((_address, other) => other !== id).join(',');
    const words = [
      program('dagd'), '--id', `${id}`, '--listen', this.addresses[id],
      '--share', `${id}/${this.addresses.length}`,
      '--cluster', '7e57', '--log', 'info', '--state-dir', folder, '--data', join(folder, 'data'),
      '--lanes', `${this.lanes}`, '--http', `127.0.0.1:${this.ports[id]}`,
    ];
    if (peers !== '') words.push('--peers', peers);
    this.children[id] = new Child(words);
    await this.children[id].says(/serves http:\/\//);
  }

  url(node = 0) {
    return `http://127.0.0.1:${this.ports[node]}/`;
  }

  async ask(path, node = 0) {
    const response = await fetch(this.url(node) + path);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: status ${response.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text);
  }

  async kill(node) {
    await this.children[node].end('SIGKILL');
  }

  /// Stopped it says nothing, and its connections stand.
  stop(node) {
    this.children[node].process.kill('SIGSTOP');
  }
  goOn(node) {
    this.children[node].process.kill('SIGCONT');
  }

  /// Starts a job's program as its own client, and waits until the cluster has the job; gives its row.
  async submit(name, words, { node = 0, environment = {} } = {}) {
    const rows = async () => (await this.ask(`api/jobs?limit=1000&name=${name}`, node)).jobs;
    const before = new Set((await rows()).map((job) => job.job));
    const [job, ...more] = words;
    const child = new Child([program(job), ...more, '--address', this.addresses[node]], environment);
    this.jobs.push(child);
    try {
      return await until(`the cluster has the job ${name}`, async () => {
        const { jobs } = await this.ask(`api/jobs?limit=1000&name=${name}`, node);
        return jobs.find((job) => job.name === name && !before.has(job.job));
      }, 60_000);
    } catch (thrown) {
      throw new Error(`${thrown.message}; its program said: ${child.said.slice(-2000)}`);
    }
  }

  /// A job that gets on and does not end: its tasks take lanes, and no core.
  async submitEndless() {
    const gate = join(this.directory, 'gate-of-ledger');
    if (!existsSync(gate)) execFileSync('mkfifo', [gate]);
    return this.submit('ledger', ['cluster_ledger', join(this.directory, 'ledger'), '6000', gate]);
  }

  /// Until it is over; gives what is known of it then.
  async isOver(job, limitMilliseconds = 60_000) {
    return until(`${job} is over`, async () => {
      const state = await this.ask(`api/jobs/${job}`);
      return ['finished', 'failed', 'cancelled'].includes(state.phase) && state;
    }, limitMilliseconds);
  }

  async cancel(job) {
    await new Child([program('dag'), 'cancel', job], { DAG_ADDRESS: this.addresses[0] }).over;
  }

  /// All that still run, so that a test can measure alone.
  async cancelAll() {
    const open = async () => (await this.ask('api/jobs?limit=1000')).jobs
      .filter((job) => !['finished', 'failed', 'cancelled'].includes(job.phase));
    for (const { job } of await open()) await this.cancel(job);
    await until('all jobs are over', async () => (await open()).length === 0, 60_000);
  }

  async end() {
    for (const job of this.jobs) await job.end('SIGKILL');
    await Promise.all(this.children.map((child) => child.end()));
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/// Trains until it is ended, in small steps, so that its counts change all the time; it does not look whether
/// it has learnt enough.
export const trainWords = (steps) => [
  'train_gpt', '--steps', `${steps}`, '--layers', '2', '--width', '64', '--heads', '4', '--context', '128',
  '--batch', '16', '--stages', '2', '--replicas', '1', '--micro-batches', '2', '--evaluate-every', '0',
];

