// Which container, environment and database the pages show.

import { get } from './api.js';
import { choice, h } from './dom.js';

const kept = JSON.parse(sessionStorage.getItem('petrel-place') ?? '{}');
export const place = {
  container: kept.container ?? '', environment: kept.environment ?? 'development',
  database: kept.database ?? 'public', user: kept.user ?? '',
};
let containers = [];

function keep() { sessionStorage.setItem('petrel-place', JSON.stringify(place)); }

/** The address of a page: who opens it elsewhere sees the same, for the place stands in it. */
export function link(page, query = {}, where = database()) {
  const items = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...where, ...query })) {
    if (value !== undefined && value !== null && value !== '') items.set(name, value);
  }
  return `#/${page}?${items}`;
}

/** Goes where an address says; one that names no place leaves it as it is. */
export function adopt(query) {
  if (!query.has('container')) return;
  place.container = query.get('container');
  place.environment = query.get('environment') ?? 'development';
  place.database = query.get('database') ?? 'public';
  if (place.database !== 'public') place.user = query.get('user') ?? '';
  keep();
}

/** Puts the place that was chosen into the address, where one stands in it. */
function readdress() {
  const [page, text] = location.hash.slice(2).split('?');
  const query = new URLSearchParams(text);
  if (!query.has('container')) return;
  for (const name of ['container', 'environment', 'database', 'user']) query.delete(name);
  history.replaceState(null, '', link(page, Object.fromEntries(query)));
}

export function containerNames() { return containers; }

/** The arguments that name the database. */
export function database() {
  const { container, environment, database, user } = place;
  return { container, environment, database, ...(database === 'public' ? {} : { user }) };
}

export async function loadContainers() {
  containers = (await get('containers')).containers.map((item) => item.container);
  if (!containers.includes(place.container)) place.container = containers[0] ?? '';
}

/** Fills the form at the top; `needs` is none, container, environment or database. */
export function showPlace(form, needs, onChange) {
  if (needs === 'none' || !containers.length) return form.replaceChildren();
  const change = (name) => (event) => {
    place[name] = event.target.value;
    keep();
    readdress();
    onChange();
    // The page shows a new form. Without a user it shows no records, so the user comes next.
    if (name === 'database' && !place.user) form.querySelector('[name=user]')?.focus();
  };
  const item = (label, control) => h('label', {}, h('span', {}, label), control);
  const controls = [item('Container',
    choice(containers, place.container, { name: 'container', onchange: change('container') }))];
  if (needs !== 'container') {
    controls.push(item('Environment', choice(['development', 'production'], place.environment,
      { name: 'environment', onchange: change('environment') })));
  }
  if (needs === 'database') {
    controls.push(item('Database', choice(['public', 'private', 'shared'], place.database,
      { name: 'database', onchange: change('database') })));
    if (place.database !== 'public') {
      controls.push(item('User', h('input', {
        name: 'user', value: place.user, size: 8, placeholder: 'name of an account', onchange: change('user'),
      })));
    }
  }
  form.replaceChildren(...controls);
}
