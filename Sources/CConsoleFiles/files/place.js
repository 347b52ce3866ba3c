// Which container, environment and database the pages show.

import { get } from './api.js';
import { choice, h } from './dom.js';

const kept = JSON.parse(sessionStorage.getItem('petrel-place') ?? '{}');
export const place = {
  container: kept.container ?? '', environment: kept.environment ?? 'development',
  database: kept.database ?? 'public', user: kept.user ?? '',
};
let containers = [];

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
    sessionStorage.setItem('petrel-place', JSON.stringify(place));
    if (name === 'database') showPlace(form, needs, onChange);
    if (place.database === 'public' || place.user || needs !== 'database') onChange();
  };
  const item = (label, control) => h('label', {}, h('span', {}, label), control);
  const controls = [item('Container',
    choice(containers, place.container, { name: 'container', onchange: change('container') }))];
  if (needs !== 'container') {
    controls.push(item('Environment', choice(['development', 'production'], place.environment,
      { name: 'environment', onchange: change('environment') })));
  }
  if (needs === 'database') {
    controls.push(item('Database', choice(['public', 'private'], place.database,
      { name: 'database', onchange: change('database') })));
    if (place.database !== 'public') {
      controls.push(item('of user', h('input', {
        name: 'user', value: place.user, size: 16, placeholder: 'name of an account', onchange: change('user'),
      })));
    }
  }
  form.replaceChildren(...controls);
}
