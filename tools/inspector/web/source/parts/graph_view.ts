// The part of a graph's picture that is seen, and how keys, wheel and pointer move it. It never leaves the
// picture: what is smaller than the screen stands in its middle.

export interface Size {
  width: number;
  height: number;
}

/// `x` and `y` are the picture's, at the left upper corner of the screen.
export interface View {
  x: number;
  y: number;
  pixelsPerUnit: number;
}

const closest = 3;
/// Below it, labels are not read any more.
const readable = 0.6;
const readableAtFirst = 0.8;

const whole = (picture: Size, screen: Size): number =>
  Math.min(1, screen.width / picture.width, screen.height / picture.height);

const held = (at: number, shown: number, all: number): number =>
  (shown >= all ? (all - shown) / 2 : Math.min(Math.max(0, at), all - shown));

export function fitted(view: View, picture: Size, screen: Size): View {
  const pixelsPerUnit = Math.min(closest, Math.max(whole(picture, screen), view.pixelsPerUnit));
  return {
    x: held(view.x, screen.width / pixelsPerUnit, picture.width),
    y: held(view.y, screen.height / pixelsPerUnit, picture.height),
    pixelsPerUnit,
  };
}

export const all = (picture: Size, screen: Size): View =>
  fitted({ x: 0, y: 0, pixelsPerUnit: 0 }, picture, screen);

/// All of it, or where that could not be read, its begin, in the middle of its height: a chain of many tasks
/// is much longer than high.
export function atFirst(picture: Size, screen: Size): View {
  if (whole(picture, screen) >= readable) return all(picture, screen);
  const y = (picture.height - screen.height / readableAtFirst) / 2;
  return fitted({ x: 0, y, pixelsPerUnit: readableAtFirst }, picture, screen);
}

/// `factor` below 1: closer. What is at those pixels of the screen stays where it is.
export function zoomed(
  view: View, picture: Size, screen: Size, factor: number, at: { x: number; y: number },
): View {
  const { pixelsPerUnit } = fitted({ ...view, pixelsPerUnit: view.pixelsPerUnit / factor }, picture, screen);
  const moved = 1 / view.pixelsPerUnit - 1 / pixelsPerUnit;
  return fitted({ x: view.x + at.x * moved, y: view.y + at.y * moved, pixelsPerUnit }, picture, screen);
}
