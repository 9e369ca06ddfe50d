// Numbers as people read them: few digits, the unit always there.

const grouped = new Intl.NumberFormat('en-US');
const rounded = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

export const whole = (value: number): string => grouped.format(value);
export const short = (value: number): string =>
  Math.abs(value) >= 1000 ? whole(Math.round(value)) : rounded.format(value);
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${whole(count)} ${count === 1 ? one : many}`;
export const percent = (share: number): string => {
  // A part must not read as all, and a little not as nothing.
  if (share > 0 && share < 0.01) return '<1 %';
  if (share < 1 && share > 0.99) return '>99 %';
  return `${Math.round(share * 100)} %`;
};

export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  const size = Math.abs(seconds);
  if (size === 0) return '0 s';
  if (size < 1e-3) return `${rounded.format(seconds * 1e6)} µs`;
  if (size < 1) return `${rounded.format(seconds * 1e3)} ms`;
  if (size < 60) return `${rounded.format(seconds)} s`;
  const total = Math.round(size);
  const days = Math.floor(total / 86400);
  const hours = Math.floor(total / 3600) % 24;
  const minutes = Math.floor(total / 60) % 60;
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return `${minutes} min ${total % 60} s`;
}

export function bytes(count: number): string {
  let value = count;
  for (const unit of ['B', 'KiB', 'MiB', 'GiB', 'TiB']) {
    if (value < 1024 || unit === 'TiB') return `${rounded.format(value)} ${unit}`;
    value /= 1024;
  }
  return '';
}

/// As journals write it, in UTC: two nodes' lines, and what `dag history` prints, compare as they stand.
export const moment = (time: string): string => time.replace('T', ' ').replace('Z', '');
