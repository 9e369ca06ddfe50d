// A table that stays quick and usable whatever it is given: so many rows and no more, a line that says what
// is left out, sorting where it helps, arrow keys from row to row, and a box that scrolls sideways on a
// narrow screen.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { duration, whole } from '../format';

export const rowsMax = 200;

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  /// Sorts by it when its title is pressed.
  by?: (row: Row) => number | string;
  number?: boolean;
  /// Takes what room is left.
  broad?: boolean;
}

export function textual<Row>(title: string, of: (row: Row) => string): Column<Row> {
  return { title, cell: of, by: of };
}

export function counted<Row>(title: string, of: (row: Row) => number): Column<Row> {
  return { title, number: true, cell: (row) => whole(of(row)), by: of };
}

export function timed<Row>(title: string, seconds: (row: Row) => number): Column<Row> {
  return { title, number: true, cell: (row) => duration(seconds(row)), by: seconds };
}

interface Properties<Row> {
  title: string;
  /// The title stands above it already.
  titleUnseen?: boolean;
  columns: Column<Row>[];
  rows: Row[];
  identity: (row: Row) => string;
  empty: ComponentChildren;
  /// Rows that there are besides those given, and how to get at what is not shown.
  beyond?: number;
  how?: ComponentChildren;
}

/// From a link or button in one row to that in the next one that has any.
function onArrow(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const row = (event.target as Element).closest('tbody tr');
  const down = event.key === 'ArrowDown';
  const next = (of: Element) => (down ? of.nextElementSibling : of.previousElementSibling);
  for (let at = row && next(row); at; at = next(at)) {
    const target = at.querySelector<HTMLElement>('a, button');
    if (target === null) continue;
    target.focus();
    event.preventDefault();
    return;
  }
}

export function Table<Row>(properties: Properties<Row>) {
  const { title, titleUnseen, columns, rows, identity, empty, beyond = 0, how } = properties;
  const [order, setOrder] = useState<{ column: number; down: boolean } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    // Only what scrolls needs a stop of the tab key, to scroll by keys.
    const look = () => setScrolls(element.scrollWidth > element.clientWidth + 1);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, []);

  let sorted = rows;
  const by = order === null ? undefined : columns[order.column]?.by;
  if (by !== undefined && order !== null) {
    const sign = order.down ? -1 : 1;
    sorted = [...rows].sort((a, b) => {
      const [x, y] = [by(a), by(b)];
      return sign * (typeof x === 'string' || typeof y === 'string'
        ? String(x).localeCompare(String(y), 'en', { numeric: true }) : x - y);
    });
  }
  const shown = sorted.slice(0, rowsMax);
  const more = rows.length - shown.length + beyond;
  return (
    <div class="table" ref={box} tabIndex={scrolls ? 0 : undefined} role={scrolls ? 'region' : undefined}
      aria-label={scrolls ? `${title}, scrolls sideways` : undefined}>
      <table onKeyDown={onArrow}>
        <caption class={titleUnseen ? 'unseen' : undefined}>{title}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => {
              const sortedBy = order?.column === index;
              const direction = order?.down ? 'descending' : 'ascending';
              return (
                <th key={column.title} scope="col" class={column.number ? 'number' : undefined}
                  aria-sort={sortedBy ? direction : undefined}>
                  {column.by === undefined ? column.title : (
                    <button type="button" class="sort" onClick={() => setOrder({
                      column: index,
                      // The largest first: readers look for those.
                      down: sortedBy ? !order.down : column.number === true || column.broad === true,
                    })}>
                      {column.title}
                      <span aria-hidden="true">{sortedBy ? (order.down ? ' ↓' : ' ↑') : ''}</span>
                    </button>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={identity(row)}>
              {columns.map((column) => (
                <td key={column.title}
                  class={`${column.number ? 'number' : ''}${column.broad ? ' broad' : ''}` || undefined}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {rows.length === 0 && <tr><td class="empty" colSpan={columns.length}>{empty}</td></tr>}
        </tbody>
      </table>
      {more > 0 && <p class="more">{whole(more)} more not shown. {how}</p>}
    </div>
  );
}
