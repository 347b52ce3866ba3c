import { get, post } from './api.js';
import { attempt, badge, choice, confirmed, empty, field, h, heading, pagedList, sheet, time, toast } from './dom.js';
import { containerNames, place } from './place.js';

const kinds = { admin: 'admin key', apiToken: 'API token', server: 'server-to-server key' };

export function keys(main) {
  const trouble = h('div', {});
  async function revoke(key) {
    const own = key.isCurrent ? ' You are signed in with this very key, so this session ends too.' : '';
    if (!await confirmed(`Revoke this ${kinds[key.kind]}?`, `From now on the server refuses everything that uses “${key.name || key.identifier}”. You cannot undo this.${own}`, 'Revoke')) return;
    if (!await attempt(trouble, () => post('keys/revoke', { identifier: key.identifier }))) return;
    toast('It was revoked.');
    list.reload();
  }
  function make() {
    const wrong = h('div', {});
    const kind = choice(Object.entries(kinds), 'apiToken', { name: 'kind', onchange: () => show() });
    const name = h('input', { name: 'name', maxlength: 200 });
    const names = containerNames();
    const container = names.length ? choice(names, place.container, { name: 'container' }) : h('input', { name: 'container', placeholder: 'iCloud.com.example.app' });
    const environment = choice(['development', 'production'], place.environment, { name: 'environment' });
    const origins = h('input', { name: 'origins', placeholder: 'https://app.example.com; from anywhere when empty' });
    const publicKey = h('textarea', { name: 'publicKey', class: 'mono', rows: 5, placeholder: '-----BEGIN PUBLIC KEY-----' });
    const more = h('div', { class: 'fieldset' });
    function show() {
      more.hidden = kind.value === 'admin';
      more.replaceChildren(field('Container', container), field('Environment', environment),
        kind.value === 'apiToken' ? field('Pages may come from', origins) : field('Public key, P-256 in PEM form', publicKey));
    }
    show();
    async function save(event) {
      event.preventDefault();
      const where = { container: container.value, environment: environment.value, name: name.value };
      const done = await attempt(wrong, () => {
        if (kind.value === 'admin') return post('keys/add-admin-key', { label: name.value });
        if (kind.value === 'server') return post('keys/add-server-key', { ...where, publicKey: publicKey.value });
        return post('keys/add-api-token', { ...where, origins: origins.value.split(/[ ,]+/).filter(Boolean) });
      });
      if (!done) return;
      const secret = done.key ?? done.token;
      dialog.close();
      list.reload();
      sheet(secret ? 'Keep it now' : 'The key is registered', null, [
        h('p', {}, secret
          ? 'The console shows this only once, and the server does not keep it. Copy it to the place where it is used before you close this.'
          : 'Programs that sign with its private key send this key ID.'),
        h('div', { class: 'secret', tabindex: '0' }, secret ?? done.keyID)], { drawer: false });
    }
    const dialog = sheet('New key or token', null, h('form', { class: 'card', onsubmit: save },
      field('Kind', kind), field('Name, by which you know it again', name), more, wrong,
      h('div', { class: 'actions' }, h('button', { class: 'first' }, 'Make it'))), { drawer: false });
  }
  const list = pagedList({
    caption: 'Keys and tokens',
    columns: [
      { title: 'Name', cell: (key) => [h('strong', {}, key.name || 'without a name'), ' ', key.isCurrent ? badge('this session', 'accent') : null] },
      { title: 'Kind', cell: (key) => kinds[key.kind] },
      { title: 'For', cell: (key) => (key.container ? `${key.container}, ${key.environment}` : 'the whole server') },
      { title: 'Identifier', class: 'clip', cell: (key) => h('code', {}, key.identifier) },
      { title: 'Made', class: 'nowrap', cell: (key) => time(key.created) },
      { title: '', cell: (key) => (key.revoked ? badge('revoked', 'bad') : h('button', { type: 'button', class: 'bad', 'aria-label': `Revoke ${kinds[key.kind]} ${key.name || key.identifier}`, onclick: () => revoke(key) }, 'Revoke…')) },
    ],
    load: async () => ({ rows: (await get('keys')).keys }),
    none: () => empty('No keys', 'The server has no keys yet.'),
  });
  main.append(heading('Keys and tokens', 'How apps, programs and operators authenticate.',
    h('button', { type: 'button', class: 'first', onclick: make }, 'New key or token')), trouble, list);
}
