import { get, post } from './api.js';
import { attempt, badge, confirmed, empty, field, h, heading, pagedList, time, toast } from './dom.js';

const state = { user: '' };

export function devices(main) {
  const results = h('div', {});
  const trouble = h('div', {});
  const user = h('input', { name: 'user', type: 'search', value: state.user, placeholder: 'name of an account, or user record name' });
  main.append(heading('Devices', 'Where notifications go: APNs tokens, browsers, webhooks, and readers of the web courier.'),
    h('form', { class: 'card', 'aria-label': 'Filter', onsubmit: (event) => { event.preventDefault(); begin(); } },
      h('div', { class: 'bar' }, h('div', { class: 'grow' }, field('User', user)), h('button', { class: 'first' }, 'Filter'))), trouble, results);
  async function remove(device) {
    if (!await confirmed('Forget this device?', 'It gets no more pushes until its app registers again. The pushes that wait for it are not sent.', 'Forget the device')) return;
    if (!await attempt(trouble, () => post('devices/delete', { kind: device.kind, token: device.token }))) return;
    toast('The device was forgotten.');
    begin();
  }
  function begin() {
    state.user = user.value;
    results.replaceChildren(pagedList({
      caption: 'Devices',
      columns: [
        { title: 'Kind', cell: (device) => [badge(device.kind, 'accent'), device.kind === 'apns' ? badge(device.apnsEnvironment) : null, device.refused ? badge('refused', 'bad') : null] },
        { title: 'App', class: 'clip', cell: (device) => [device.bundleID, device.refusedTopic ? h('div', {}, `APNs refuses the token for the topic ${device.refusedTopic}`) : null] },
        { title: 'User', cell: (device) => device.userName ?? h('code', {}, device.user) },
        { title: 'Container', cell: (device) => `${device.container}, ${device.environment}` },
        { title: 'Token', class: 'clip', cell: (device) => h('code', {}, device.token) },
        { title: 'Device', class: 'clip', cell: (device) => device.deviceID },
        { title: 'Registered', class: 'nowrap', cell: (device) => time(device.registered) },
        { title: '', cell: (device) => (device.kind === 'courier' ? '' : h('button', { type: 'button', class: 'bad', 'aria-label': `Forget ${device.kind} device ${device.token.slice(0, 12)}`, onclick: () => remove(device) }, 'Forget…')) },
      ],
      load: async (continuation) => {
        const answer = await get('devices', { ...state, continuation });
        return { rows: answer.devices, continuation: answer.continuation };
      },
      none: () => empty('No devices', state.user
        ? 'This user has no registered device.' : 'An app registers its device when it asks for remote notifications.'),
    }));
  }
  begin();
}
