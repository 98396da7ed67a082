/** Light or dark: as the system has it, until somebody chooses. */
import { effect, signal } from '@preact/signals';

type Theme = 'light' | 'dark';
const key = 'stagecraft-theme';

const preferred = (): Theme => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
const asked = new URLSearchParams(location.search).get('theme');
const kept = localStorage.getItem(key);
const chosen = [asked, kept].find((one): one is Theme => one === 'light' || one === 'dark');

export const theme = signal<Theme>(chosen ?? preferred());

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

export function turnTheme(): void {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  localStorage.setItem(key, theme.value);
}
