import { get, post } from './api.js';
import { attempt, badge, confirmed, count, definitions, empty, field, h, heading, pagedList, person, sheet, table, time, toast } from './dom.js';
import { place } from './place.js';

const state = { owner: '', participant: '' };

function environment() { return { container: place.container, environment: place.environment }; }

/** The arguments that name a share. */
function name(share) { return { ...environment(), owner: share.owner, zone: share.zone, share: share.share }; }

function user(row) { return person(row.user, row.userName ? { [row.user]: row.userName } : {}); }

function owner(share) { return person(share.owner, share.ownerName ? { [share.owner]: share.ownerName } : {}); }

/** A participant by account or user record name, else by the address of the invitation. */
function participantName(participant) {
  return participant.userName ?? participant.user ?? participant.emailAddress ?? participant.phoneNumber ?? 'whoever has the link';
}

export function shares(main) {
  const results = h('div', {});
  const ownerName = h('input', { name: 'owner', value: state.owner, placeholder: 'any' });
  const participant = h('input', { name: 'participant', value: state.participant, placeholder: 'any' });
  main.append(heading('Shares', `What users of ${place.container}, ${place.environment}, share with each other.`),
    h('form', { class: 'card', 'aria-label': 'Filter', onsubmit: (event) => { event.preventDefault(); begin(); } },
      h('div', { class: 'bar' }, field('Owner', ownerName), field('Participant', participant),
        h('button', { class: 'first' }, 'Filter'))), results, readersForm());
  function begin() {
    Object.assign(state, { owner: ownerName.value, participant: participant.value });
    results.replaceChildren(pagedList({
      caption: 'Shares',
      columns: [
        { title: 'Share', cell: (share) => h('button', { type: 'button', class: 'link mono', onclick: () => open(share, begin) }, share.share) },
        { title: 'Owner', cell: owner },
        { title: 'Zone', cell: (share) => h('code', {}, share.zone) },
        { title: 'Root', cell: (share) => (share.root ? h('code', {}, share.root) : 'the whole zone') },
        { title: 'Public', cell: (share) => (share.publicPermission === 'NONE' ? '' : badge(share.publicPermission, 'accent')) },
        { title: 'Participants', cell: (share) => `${share.accepted} accepted, ${share.invited} invited` },
      ],
      load: async (continuation) => {
        const answer = await get('shares', { ...environment(), ...state, continuation });
        return { rows: answer.shares, continuation: answer.continuation };
      },
      none: () => (state.owner || state.participant
        ? empty('No match', 'No share has this owner and participant. Clear the filter to see all.')
        : empty('No shares', 'An app shares a record or a zone when it saves a CKShare.')),
    }));
  }
  begin();
}

/** Asks who sees a record. */
function readersForm() {
  const result = h('div', {});
  const inputs = { owner: 'Owner', zone: 'Zone', recordName: 'Record' };
  const form = h('form', { class: 'card', 'aria-label': 'Who sees a record', onsubmit: (event) => { event.preventDefault(); ask(); } },
    h('h2', {}, 'Who sees a record'),
    h('div', { class: 'bar' },
      Object.entries(inputs).map(([name, label]) => field(label, h('input', { name: `reader-${name}`, required: true }))),
      h('button', {}, 'Show')), result);
  function ask() {
    const query = Object.fromEntries(Object.keys(inputs).map((name) => [name, form.elements[`reader-${name}`].value]));
    attempt(result, async () => {
      const answer = await get('records/readers', { ...environment(), ...query });
      result.replaceChildren(
        h('p', {}, answer.share ? ['By the share ', h('code', {}, answer.share.share), ':'] : 'The record is not shared.'),
        table('Readers', [
          { title: 'User', cell: user },
          { title: 'Role', cell: (reader) => badge(reader.role) },
          { title: 'Permission', cell: (reader) => reader.permission },
        ], answer.readers));
    });
  }
  return form;
}

/** @param changed is called when the list is no longer what it was. */
function open(listed, changed) {
  const trouble = h('div', {});
  const content = h('div', {}, h('p', { class: 'quiet' }, 'Loading…'));
  const drawer = sheet(listed.share, listed.root ? `of ${listed.root} in ${listed.zone}` : `of the zone ${listed.zone}`, [content, trouble]);

  function show(share) {
    content.replaceChildren(
      h('div', { class: 'card' }, definitions([
        ['Owner', owner(share)], ['Zone', h('code', {}, share.zone)],
        ['Root', share.root ? h('code', {}, share.root) : 'the whole zone'],
        ['Covers', share.moreRecords ? `more than ${count(share.records, 'record')}` : count(share.records, 'record')],
        ['Public permission', share.publicPermission],
        ['Link', share.link ? h('code', {}, share.link) : undefined],
        ['Requests for access', share.allowsAccessRequests ? 'allowed' : 'ignored'],
        ['Requested by', share.requesters.length ? share.requesters.map((row) => [user(row), ' ']) : undefined],
        ['Blocked', share.blocked.length ? share.blocked.map((row) => [user(row), ' ']) : undefined]])),
      h('h3', {}, 'Participants'),
      h('div', { class: 'card flush' }, table('Participants', [
        { title: 'Participant', cell: (row) => (row.user ? user(row) : participantName(row)) },
        { title: 'Role', cell: (row) => badge(row.role) },
        { title: 'Permission', cell: (row) => row.permission },
        { title: 'State', cell: (row) => row.state },
        { title: 'Added', class: 'nowrap', cell: (row) => time(row.added) },
        { title: '', cell: (row) => (row.role === 'OWNER' ? '' : h('button', {
          type: 'button', class: 'bad', 'aria-label': `Remove ${participantName(row)}`, onclick: () => remove(row) }, 'Remove…')) },
      ], share.participants)),
      h('div', { class: 'actions' },
        h('button', { type: 'button', onclick: renew }, 'New link…'),
        h('button', { type: 'button', class: 'bad', onclick: end }, 'End the share…')));
  }

  async function remove(participant) {
    const who = participantName(participant);
    if (!await confirmed('Remove this participant?', `${who} does not see the shared records any more.`, 'Remove the participant')) return;
    const share = await attempt(trouble, () => post('shares/remove', { ...name(listed), participant: participant.participantID }));
    if (!share) return;
    show(share);
    changed();
    toast('The participant was removed.');
  }
  async function renew() {
    if (!await confirmed('Make a new link?', 'The link that people have leads nowhere any more. Participants stay.', 'Make a new link')) return;
    const share = await attempt(trouble, () => post('shares/new-link', name(listed)));
    if (!share) return;
    show(share);
    toast('The share has a new link.');
  }
  async function end() {
    if (!await confirmed('End this share?', 'All participants lose the shared records. The records stay with their owner.', 'End the share')) return;
    if (!await attempt(trouble, () => post('shares/end', name(listed)))) return;
    drawer.close();
    changed();
    toast('The share was ended.');
  }
  attempt(content, async () => show(await get('shares/show', name(listed))));
}
