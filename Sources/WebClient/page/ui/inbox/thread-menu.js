// What a user can do with a conversation as a whole.

import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';
import { threadSubject } from '../parts/avatar.js';
import { confirm } from '../parts/dialog.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */
/** @typedef {import('../../core/types.js').Thread} Thread */
/** @typedef {import('../parts/menu.js').MenuItem} MenuItem */

const hour = 3_600_000;
const always = '9999-12-31T00:00:00.000Z';

/** @param {Thread} thread */
export function isMuted({ me }) {
    return me.muted_until !== null && new Date(me.muted_until) > new Date();
}

/** Returns the items of the menu of a thread in the inbox.
 * @param {Chat} chat
 * @param {Thread} thread
 * @returns {(MenuItem | false)[]}
 */
export function threadMenu(chat, thread) {
    const { id, me, unread_count: unread, last_message: last } = thread;
    if (me.status === 'invited') return [];
    const set = (/** @type {Parameters<Chat['updateSettings']>[1]} */ change) => () =>
        attempt(() => chat.updateSettings(id, change));
    const isFromOther = last?.sender && last.sender.id !== chat.session.value?.user.id && !last.deleted_at;
    return [
        unread > 0 && {
            name: t('inbox.markRead'),
            icon: 'check',
            onselect: () => chat.markRead(id, thread.head),
        },
        unread === 0 && !!isFromOther && {
            name: t('inbox.markUnread'),
            icon: 'unread',
            onselect: () => attempt(() => chat.markUnread(id, last.seq)),
        },
        { name: t(me.pinned ? 'inbox.unpin' : 'inbox.pin'), icon: 'pin', onselect: set({ pinned: !me.pinned }) },
        ...muteMenu(chat, thread),
        {
            name: t(me.archived ? 'inbox.unarchive' : 'inbox.archive'),
            icon: 'archive',
            onselect: set({ archived: !me.archived }),
        },
        thread.kind !== 'direct' && {
            name: t('inbox.leave'),
            icon: 'leave',
            isDangerous: true,
            onselect: () => leave(chat, thread),
        },
    ];
}

/** Returns the items that mute a thread or end that.
 * @param {Chat} chat
 * @param {Thread} thread
 * @returns {MenuItem[]}
 */
export function muteMenu(chat, thread) {
    /** @returns {MenuItem} */
    const item = (
        /** @type {string} */ name,
        /** @type {import('../parts/icon.js').IconName} */ icon,
        /** @type {() => string | null} */ until,
    ) => ({
        name: t(name),
        icon,
        onselect: () => attempt(() => chat.updateSettings(thread.id, { muted_until: until() })),
    });
    if (isMuted(thread)) return [item('inbox.unmute', 'bell', () => null)];
    const after = (/** @type {number} */ hours) => () => new Date(Date.now() + hours * hour).toISOString();
    return [
        item('inbox.mute1', 'clock', after(1)),
        item('inbox.mute8', 'clock', after(8)),
        item('inbox.muteAlways', 'muted', () => always),
    ];
}

/** Asks, then leaves the thread.
 * @param {Chat} chat
 * @param {Thread} thread
 */
export async function leave(chat, thread) {
    const { name } = threadSubject(thread);
    const text = t(thread.kind === 'room' ? 'inbox.leaveRoomText' : 'inbox.leaveText', { title: name });
    const isConfirmed = await confirm({ title: t('inbox.leave'), text, action: t('inbox.leaveAction') });
    if (isConfirmed) await attempt(() => chat.leaveThread(thread.id));
}
