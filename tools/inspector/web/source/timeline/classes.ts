// How tasks of one name look: a colour, a pattern and a letter, so that none of the three is needed to tell
// them apart. A name keeps its look for as long as the page of its job is open, whatever part of it is shown.

import { colour } from '../theme';

const colours = 8;
const patterns = 6;
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export class Classes {
  private readonly numbers = new Map<string, number>();

  number(name: string): number {
    let found = this.numbers.get(name);
    if (found === undefined) {
      found = this.numbers.size;
      this.numbers.set(name, found);
    }
    return found;
  }

  letter(name: string): string {
    const number = this.number(name);
    const round = Math.floor(number / letters.length);
    return `${letters[number % letters.length]}${round === 0 ? '' : round}`;
  }
}

const tile = 8;

function paint(context: CanvasRenderingContext2D, pattern: number): void {
  const line = (x: number, y: number, toX: number, toY: number) => {
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(toX, toY);
    context.stroke();
  };
  if (pattern === 1) [-tile, 0, tile].forEach((x) => line(x, tile, x + tile, 0));
  if (pattern === 2) [-tile, 0, tile].forEach((x) => line(x, 0, x + tile, tile));
  if (pattern === 3) line(0, tile / 2, tile, tile / 2);
  if (pattern === 4) line(tile / 2, 0, tile / 2, tile);
  if (pattern === 5) {
    for (const at of [2, 6]) {
      context.beginPath();
      context.arc(at, at, 1.2, 0, 2 * Math.PI);
      context.fill();
    }
  }
}

/// The fills of one theme; made anew when the theme changes.
export class Fills {
  private readonly made = new Map<number, CanvasPattern | string>();
  private readonly bases = Array.from({ length: colours }, (_none, number) => colour(`class-${number}`));
  readonly ink = colour('class-ink');
  readonly text = colour('text');
  readonly quiet = colour('quiet');
  readonly line = colour('line');
  readonly ground = colour('ground');
  readonly stripe = colour('stripe');
  readonly bad = colour('bad');
  readonly focus = colour('focus');

  base(number: number): string {
    return this.bases[number % colours] ?? this.ink;
  }

  of(number: number): CanvasPattern | string {
    let fill = this.made.get(number);
    if (fill !== undefined) return fill;
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = tile;
    const context = canvas.getContext('2d');
    fill = this.base(number);
    if (context !== null) {
      context.fillStyle = fill;
      context.fillRect(0, 0, tile, tile);
      context.strokeStyle = context.fillStyle = this.ink;
      context.globalAlpha = 0.55;
      // Each round of colours begins one pattern later, so that the first 24 differ in both.
      paint(context, (number + Math.floor(number / colours)) % patterns);
      fill = context.createPattern(canvas, 'repeat') ?? fill;
    }
    this.made.set(number, fill);
    return fill;
  }
}
