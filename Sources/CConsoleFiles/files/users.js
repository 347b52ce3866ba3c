import { get, post } from './api.js';
import { attempt, confirmed, definitions, empty, field, h, heading, pagedList, sheet, table, time, toast } from './dom.js';

const state = { text: '' };

export function users(main) {
  const results = h('div', {});
  const text = h('input', { name: 'text', type: 'search', value: state.text, placeholder: 'beginning of a name' });
  main.append(heading('Users', ['The accounts of this server. ', h('code', {}, 'petrel users add'), ' makes them.']),
    h('form', { class: 'card', 'aria-label': 'Search', onsubmit: (event) => { event.preventDefault(); begin(); } },
      h('div', { class: 'bar' }, h('div', { class: 'grow' }, field('Name', text)), h('button', { class: 'first' }, 'Search'))), results);
  function begin() {
    state.text = text.value;
    results.replaceChildren(pagedList({
      caption: 'Users',
      columns: [
        { title: 'Name', cell: (user) => h('button', { type: 'button', class: 'link', onclick: () => open(user) }, user.name) },
        { title: 'Full name', cell: (user) => user.fullName },
        { title: 'E-mail', cell: (user) => user.emailAddress },
        { title: 'User record', cell: (user) => h('code', {}, user.userRecordName) },
        { title: 'Since', class: 'nowrap', cell: (user) => time(user.created) },
      ],
      load: async (continuation) => {
        const answer = await get('users', { ...state, continuation });
        return { rows: answer.users, continuation: answer.continuation };
      },
      none: () => (state.text ? empty('Nobody of this name', 'No account’s name begins like this; capitals count.')
        : empty('No users yet', 'Make the first with: petrel users add NAME')),
    }));
  }
  begin();
}

async function open(user) {
  const trouble = h('div', {});
  const list = h('div', { class: 'card flush' }, h('p', { class: 'more' }, 'Loading devices…'));
  async function signOut(everywhere) {
    const text = everywhere
      ? 'Web apps, native clients and browsers lose their tokens. Native clients need another from petrel users add-token.'
      : 'Web apps lose their sessions and lead to the sign-in page. Native clients stay.';
    if (!await confirmed(`Sign ${user.name} out?`, text, 'Sign out')) return;
    const done = await attempt(trouble, () => post('users/sign-out', { user: user.userRecordName, everywhere }));
    if (done) toast(`${done.sessions} ${done.sessions === 1 ? 'session' : 'sessions'} ended.`);
  }
  sheet(user.name, user.fullName, [
    h('div', { class: 'card' }, definitions([
      ['User record', h('code', {}, user.userRecordName)], ['E-mail', user.emailAddress], ['Phone', user.phoneNumber],
      ['Since', time(user.created)]])),
    h('h3', {}, 'Devices'), list, trouble,
    h('div', { class: 'actions' },
      h('button', { type: 'button', onclick: () => signOut(false) }, 'Sign out of web apps…'),
      h('button', { type: 'button', class: 'bad', onclick: () => signOut(true) }, 'Sign out everywhere…')),
  ]);
  await attempt(list, async () => {
    const { devices } = await get('devices', { user: user.userRecordName });
    list.replaceChildren(devices.length
      ? table('Devices of this user', [
        { title: 'Kind', cell: (device) => device.kind },
        { title: 'Token', class: 'clip', cell: (device) => h('code', {}, device.token) },
        { title: 'Container', cell: (device) => device.container },
      ], devices)
      : h('p', { class: 'more' }, 'None is registered, so this user gets no pushes.'));
  });
}
