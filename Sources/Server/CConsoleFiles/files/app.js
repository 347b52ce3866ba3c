// The frame around the pages: the page that is shown, the place, the theme and the session.

import { isDark, toggleTheme } from './theme.js';
import { get, post } from './api.js';
import { empty, h, problem } from './dom.js';
import { start } from './live.js';
import { adopt, containerNames, loadContainers, place, showPlace } from './place.js';
import { overview } from './overview.js';
import { pushes } from './pushes.js';
import { explain } from './explain.js';
import { dryRun } from './dry-run.js';
import { records } from './records.js';
import { zones } from './zones.js';
import { schema } from './schema.js';
import { shares } from './shares.js';
import { subscriptions } from './subscriptions.js';
import { users } from './users.js';
import { devices } from './devices.js';
import { keys } from './keys.js';

const pages = {
  overview: { title: 'Overview', needs: 'none', show: overview },
  pushes: { title: 'Pushes', needs: 'database', show: pushes },
  explain: { title: 'Explain', needs: 'database', show: explain },
  records: { title: 'Records', group: 'Data', needs: 'database', show: records },
  zones: { title: 'Zones', needs: 'database', show: zones },
  schema: { title: 'Schema', needs: 'environment', show: schema },
  subscriptions: { title: 'Subscriptions', needs: 'database', show: subscriptions },
  shares: { title: 'Shares', needs: 'environment', show: shares },
  'dry-run': { title: 'Dry runs', needs: 'database', show: dryRun },
  users: { title: 'Users', group: 'Access', needs: 'none', show: users },
  devices: { title: 'Devices', needs: 'none', show: devices },
  keys: { title: 'Keys and tokens', needs: 'none', show: keys },
};

const main = document.getElementById('main');
const nav = document.getElementById('nav');
const menu = document.getElementById('menu');
let leave = null;

function showNavigation(current) {
  nav.replaceChildren(...Object.entries(pages).flatMap(([name, page]) => [
    page.group ? h('div', { class: 'group' }, page.group) : null,
    h('a', { href: `#/${name}`, 'aria-current': name === current ? 'page' : null }, page.title),
  ]).filter(Boolean));
  nav.classList.remove('open');
  menu.setAttribute('aria-expanded', 'false');
}

async function show(moved) {
  const [name, text] = location.hash.slice(2).split('?');
  const query = new URLSearchParams(text);
  const page = pages[name] ?? pages.overview;
  adopt(query);
  leave?.();
  leave = null;
  showNavigation(pages[name] ? name : 'overview');
  showPlace(document.getElementById('place'), page.needs, () => show(false));
  document.title = `${page.title} – Petrel console`;
  if (page.needs !== 'none' && !place.container) {
    main.replaceChildren(empty('No container yet',
      'A container appears when an app first saves something in it, or when server.json names it.'));
  } else if (page.needs !== 'none' && !containerNames().includes(place.container)) {
    main.replaceChildren(empty('Not on this server',
      `This address is for ${place.container}, and this server has no data of it. Choose another container above.`));
  } else if (page.needs === 'database' && place.database !== 'public' && !place.user && name !== 'pushes') {
    main.replaceChildren(empty('Whose database?',
      'Enter the name of an account, or a user record name, in “User” above.'));
  } else {
    main.replaceChildren();
    try {
      leave = await page.show(main, query) ?? null;
    } catch (error) {
      main.replaceChildren(problem(error, () => show(false)));
    }
  }
  // A page may have given the focus to what its address is about.
  if (moved && !main.contains(document.activeElement)) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

function showTheme() {
  document.getElementById('theme').textContent = isDark() ? 'Light theme' : 'Dark theme';
}

document.getElementById('theme').addEventListener('click', () => { toggleTheme(); showTheme(); });
document.getElementById('place').addEventListener('submit', (event) => event.preventDefault());
document.getElementById('sign-out').addEventListener('click', async () => {
  await post('session/sign-out');
  location.assign('/console/sign-in');
});
menu.addEventListener('click', () => {
  const isOpen = nav.classList.toggle('open');
  menu.setAttribute('aria-expanded', String(isOpen));
});
addEventListener('hashchange', () => show(true));

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showTheme);
showTheme();
try {
  await get('session');
  await loadContainers();
  start();
} catch (error) {
  main.replaceChildren(problem(error, () => location.reload()));
}
if (!main.querySelector('.error')) await show(false);
