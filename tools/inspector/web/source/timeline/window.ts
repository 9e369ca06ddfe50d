// The part of a job's span that the timeline shows, and how keys, wheel and pointer move it. It never leaves
// the span, and is never so small that floating point would jump.

export interface Window {
  from: number;
  to: number;
}

const leastSeconds = 20e-6;

export function fitted(window: Window, span: number): Window {
  const width = Math.min(span, Math.max(leastSeconds, window.to - window.from));
  const from = Math.min(Math.max(0, window.from), span - width);
  return { from, to: from + width };
}

/// `factor` below 1: closer. What is at `at` stays where it is.
export function zoomed(window: Window, span: number, factor: number, at: number): Window {
  return fitted({ from: at - (at - window.from) * factor, to: at + (window.to - at) * factor }, span);
}

export function panned(window: Window, span: number, seconds: number): Window {
  return fitted({ from: window.from + seconds, to: window.to + seconds }, span);
}

export const isWhole = (window: Window, span: number): boolean => window.to - window.from >= span * 0.999999;

/// Where the axis has its marks: at most `count` round numbers.
export function ticks(window: Window, count: number): { at: number; step: number }[] {
  const rough = (window.to - window.from) / Math.max(1, count);
  if (!(rough > 0)) return [];
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * ten).find((one) => one >= rough) ?? ten * 10;
  const all: { at: number; step: number }[] = [];
  for (let index = Math.ceil(window.from / step); index * step <= window.to; ++index) {
    all.push({ at: index * step, step });
  }
  return all;
}

/// With as many digits as tell two neighbours apart.
export function tickText(at: number, step: number): string {
  const [unit, name] = at < 1 && step < 0.01 ? (step < 1e-5 ? [1e6, 'µs'] : [1e3, 'ms']) : [1, 's'];
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step * unit) + 1e-9)));
  return `${(at * unit).toFixed(digits)} ${name}`;
}
