// How fast a job gets on, from the counts that this page has seen: a node keeps no past of them.

export interface Pace {
  perSecond: number;
  secondsLeft: number | null;
}

interface Seen {
  seconds: number;
  ended: number;
  open: number;
}

const windowSeconds = 60;
const leastSeconds = 2;

export class PaceMeter {
  private seen: Seen[] = [];

  take(seconds: number, ended: number, open: number): void {
    const last = this.seen[this.seen.length - 1];
    // Tasks that spawn tasks make `open` grow; what ended only shrinks when a loss made it run again.
    if (last !== undefined && ended < last.ended) this.seen = [];
    this.seen.push({ seconds, ended, open });
    this.seen = this.seen.filter((one) => one.seconds >= seconds - windowSeconds);
  }

  /// Null: not seen for long enough.
  pace(): Pace | null {
    const [first] = this.seen;
    const last = this.seen[this.seen.length - 1];
    if (first === undefined || last === undefined || last.seconds - first.seconds < leastSeconds) return null;
    const perSecond = (last.ended - first.ended) / (last.seconds - first.seconds);
    return { perSecond, secondsLeft: perSecond > 0 ? last.open / perSecond : null };
  }
}
