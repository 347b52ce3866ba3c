// The theme that was chosen, before anything is painted.
const stored = localStorage.getItem('petrel-theme');
if (stored) document.documentElement.dataset.theme = stored;

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

export function toggleTheme() {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  localStorage.setItem('petrel-theme', theme);
}
