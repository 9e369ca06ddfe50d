// A wire between browser and node that a test can cut, and mend: it carries bytes, and knows nothing of HTTP.

import { connect, createServer } from 'node:net';

export class Wire {
  /// Leads to that port of this machine.
  static async to(port) {
    const wire = new Wire();
    wire.whole = true;
    wire.ends = new Set();
    wire.server = createServer((near) => {
      if (!wire.whole) {
        near.destroy();
        return;
      }
      const far = connect(port, '127.0.0.1');
      for (const [one, other] of [[near, far], [far, near]]) {
        wire.ends.add(one);
        one.pipe(other);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          wire.ends.delete(one);
          other.destroy();
        });
      }
    });
    await new Promise((done, failed) => wire.server.once('error', failed).listen(0, '127.0.0.1', done));
    wire.url = `http://127.0.0.1:${wire.server.address().port}/`;
    return wire;
  }

  cut() {
    this.whole = false;
    for (const end of this.ends) end.destroy();
  }

  mend() {
    this.whole = true;
  }

  async end() {
    this.cut();
    await new Promise((done) => this.server.close(done));
  }
}
