// Light or dark: as the system has it, unless somebody chose here; the choice is kept in this browser. The
// page's colours hang on one attribute, which is always set, so that each theme stands once in the style
// sheet.

import { computed, effect, signal } from '@preact/signals';

export type Choice = 'system' | 'light' | 'dark';
const key = 'dag-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function kept(): Choice {
  try {
    const choice = localStorage.getItem(key);
    return choice === 'light' || choice === 'dark' ? choice : 'system';
  } catch {
    return 'system';  // A browser may forbid storage; the page works without.
  }
}

const systemIsDark = signal(system.matches);
system.addEventListener('change', () => (systemIsDark.value = system.matches));
export const choice = signal<Choice>(kept());
export const theme = computed<'light' | 'dark'>(() =>
  choice.value === 'system' ? (systemIsDark.value ? 'dark' : 'light') : choice.value);

export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}

export function choose(chosen: Choice): void {
  choice.value = chosen;
  try {
    if (chosen === 'system') localStorage.removeItem(key);
    else localStorage.setItem(key, chosen);
  } catch {
    // Then it lasts as long as the page.
  }
}

/// Colours for drawings: canvases know nothing of style sheets.
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
