import { get, post } from './api.js';
import { attempt, confirmed, definitions, empty, field, h, heading, pagedList, sheet, table, time, toast } from './dom.js';

const state = { text: '' };

export function users(main) {
  const results = h('div', {});
  const text = h('input', { name: 'text', type: 'search', value: state.text, placeholder: 'beginning of a name' });
  main.append(heading('Users', ['The accounts of this server. ', h('code', {}, 'petrel users add'), ' creates them.']),
    h('form', { class: 'card', 'aria-label': 'Search', onsubmit: (event) => { event.preventDefault(); begin(); } },
      h('div', { class: 'bar' }, h('div', { class: 'grow' }, field('Name', text)), h('button', { class: 'first' }, 'Search'))), results);
  function begin() {
    state.text = text.value;
    results.replaceChildren(pagedList({
      caption: 'Users',
      columns: [
        { title: 'Name', cell: (user) => h('button', { type: 'button', class: 'link', onclick: () => open(user, begin) }, user.name) },
        { title: 'Full name', cell: (user) => user.fullName },
        { title: 'E-mail', cell: (user) => user.emailAddress },
        { title: 'User record', cell: (user) => h('code', {}, user.userRecordName) },
        { title: 'Since', class: 'nowrap', cell: (user) => time(user.created) },
      ],
      load: async (continuation) => {
        const answer = await get('users', { ...state, continuation });
        return { rows: answer.users, continuation: answer.continuation };
      },
      none: () => (state.text ? empty('No match', 'No account’s name begins with this text. Upper and lower case differ.')
        : empty('No users yet', 'Create the first with: petrel users add NAME')),
    }));
  }
  begin();
}

/** Asks whether a deletion keeps public records; undefined when the person cancels. */
function deletionChoice(user) {
  return new Promise((resolve) => {
    let answer;
    const choices = [['keep', 'Keep public records, without the user’s name'], ['delete', 'Delete public records, too']]
      .map(([value, title]) => ({ value, title, input: h('input', { type: 'radio', name: 'publicRecords', value, required: true }) }));
    const dialog = sheet(`Delete ${user.name}?`, null, [
      h('p', {}, `The server deletes the private databases, files, subscriptions and devices of ${user.name} for good. `
        + 'Earlier backups still contain them.'),
      h('form', { onsubmit: (event) => {
        event.preventDefault();
        answer = choices.find((choice) => choice.input.checked)?.value;
        dialog.close();
      } },
      choices.map(({ title, input }) => h('p', {}, h('label', {}, input, ' ', title))),
      h('div', { class: 'actions' },
        h('button', { class: 'bad' }, `Delete ${user.name}`),
        h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'))),
    ], { drawer: false });
    dialog.addEventListener('close', () => resolve(answer));
  });
}

/** @param changed is called when the list is no longer what it was. */
async function open(user, changed) {
  const trouble = h('div', {});
  const list = h('div', { class: 'card flush' }, h('p', { class: 'more' }, 'Loading devices…'));
  async function signOut(everywhere) {
    const text = everywhere
      ? 'Web apps, native clients and browsers lose their tokens. A native client needs a new token from petrel users add-token.'
      : 'Web apps lose their sessions and show the sign-in page again. Native clients stay signed in.';
    if (!await confirmed(`Sign ${user.name} out?`, text, 'Sign out')) return;
    const done = await attempt(trouble, () => post('users/sign-out', { user: user.userRecordName, everywhere }));
    if (done) toast(`${done.sessions} ${done.sessions === 1 ? 'session' : 'sessions'} ended.`);
  }
  async function remove() {
    const publicRecords = await deletionChoice(user);
    if (!publicRecords) return;
    const begun = await attempt(trouble, () => post('users/delete', { user: user.userRecordName, publicRecords }));
    if (!begun) return;
    toast(`${user.name} is being deleted.`);
    drawer.close();
    changed();
  }
  const drawer = sheet(user.name, user.fullName, [
    h('div', { class: 'card' }, definitions([
      ['User record', h('code', {}, user.userRecordName)], ['E-mail', user.emailAddress], ['Phone', user.phoneNumber],
      ['Since', time(user.created)], ['State', user.isBeingDeleted ? 'being deleted' : undefined]])),
    h('h3', {}, 'Devices'), list,
    h('h3', {}, 'Export all data of this user'),
    h('p', { class: 'small' }, h('code', {}, `petrel users export ${user.userRecordName} --to FOLDER`)), trouble,
    h('div', { class: 'actions' },
      h('button', { type: 'button', onclick: () => signOut(false) }, 'Sign out of web apps…'),
      h('button', { type: 'button', class: 'bad', onclick: () => signOut(true) }, 'Sign out everywhere…'),
      h('button', { type: 'button', class: 'bad', onclick: remove }, 'Delete…')),
  ]);
  await attempt(list, async () => {
    const { devices } = await get('devices', { user: user.userRecordName });
    list.replaceChildren(devices.length
      ? table('Devices of this user', [
        { title: 'Kind', cell: (device) => device.kind },
        { title: 'Token', class: 'clip', cell: (device) => h('code', {}, device.token) },
        { title: 'Container', cell: (device) => device.container },
      ], devices)
      : h('p', { class: 'more' }, 'No device is registered, so this user gets no pushes.'));
  });
}
