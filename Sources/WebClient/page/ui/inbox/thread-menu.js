// What a user can do with a conversation as a whole.

import * as requests from '../../core/requests.js';
import { isMuted } from '../../core/state/attention.js';
import { div, element, p } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt, button, loaded } from '../parts/action.js';
import { avatar, threadSubject } from '../parts/avatar.js';
import { confirm, openDialog } from '../parts/dialog.js';
import { openMenu } from '../parts/menu.js';

/** @import {ChatShape, Thread} from '../../core/types.js' */
/** @import {MenuItem} from '../parts/menu.js' */
/** @typedef {Parameters<typeof requests.updateSettings>[2]} Settings */

const hour = 3_600_000;
const always = '9999-12-31T00:00:00.000Z';

/** Opens the menu of a thread in the inbox.
 * @param {ChatShape} chat
 * @param {Thread} thread
 * @param {HTMLElement} button
 * @param {{x: number, y: number}} [at] the place of the pointer
 */
export function openThreadMenu(chat, thread, button, at) {
    const items = thread.me.status === 'invited' ? invitationMenu(chat, thread) : menu(chat, thread);
    const link = button.parentElement?.querySelector('a');
    openMenu(button, button.title, items, { at, returnTo: at && link ? link : button });
}

/**
 * @param {ChatShape} chat
 * @param {Thread} thread
 * @returns {(MenuItem | false)[]}
 */
function menu(chat, thread) {
    const { id, me, head, last_message: last } = thread;
    const isRead = thread.unread_count === 0;
    const mayUnread = last?.sender && last.sender.id !== chat.session.value?.user.id && !last.deleted_at;
    const { pinned, archived } = me;
    const set = (/** @type {Settings} */ change) => () => attempt(() => requests.updateSettings(chat, id, change));
    const unread = () => attempt(() => chat.markUnread(id, last?.seq ?? head));
    return [
        !isRead && { name: t('inbox.markRead'), icon: 'check', onselect: () => chat.markRead(id, head) },
        isRead && !!mayUnread && { name: t('inbox.markUnread'), icon: 'unread', onselect: unread },
        { name: t(pinned ? 'inbox.unpin' : 'inbox.pin'), icon: 'pin', onselect: set({ pinned: !pinned }) },
        ...muteMenu(chat, thread),
        { name: t('labels.menu'), icon: 'label', onselect: () => attempt(() => openLabels(chat, thread)) },
        {
            name: t(archived ? 'inbox.unarchive' : 'inbox.archive'),
            icon: 'archive',
            onselect: set({ archived: !archived }),
        },
        thread.kind !== 'direct' && {
            name: t('inbox.leave'),
            icon: 'leave',
            isDangerous: true,
            onselect: () => leave(chat, thread),
        },
    ];
}

/**
 * @param {ChatShape} chat
 * @param {Thread} thread
 * @returns {MenuItem[]}
 */
function invitationMenu(chat, { id }) {
    const decline = () => attempt(() => requests.leaveThread(chat, id));
    return [
        { name: t('shell.accept'), icon: 'check', onselect: () => attempt(() => requests.acceptInvitation(chat, id)) },
        { name: t('shell.decline'), icon: 'close', isDangerous: true, onselect: decline },
    ];
}

/** Builds what is shown instead of the composer while the user is invited: the buttons "Accept" and "Decline".
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
export function invitation(chat, thread) {
    const { id, kind, me, member_count: count } = thread;
    const name = me.invited_by?.name;
    return element(
        'section',
        { class: 'invitation', 'aria-label': t('inbox.invitation') },
        avatar(threadSubject(thread), chat, 'large'),
        p('', name ? t('shell.invitedBy', { name }) : t('shell.invited')),
        kind !== 'direct' && p('hint', t('inbox.members', { count })),
        div(
            'actions',
            button(t('shell.decline'), () => requests.leaveThread(chat, id)),
            button(t('shell.accept'), () => requests.acceptInvitation(chat, id), 'primary'),
        ),
    );
}

/** Returns the items that mute a thread, or the one that ends that.
 * @param {ChatShape} chat
 * @param {Thread} thread
 * @returns {MenuItem[]}
 */
export function muteMenu(chat, thread) {
    const set = (/** @type {string | null} */ until) =>
        attempt(() => requests.updateSettings(chat, thread.id, { muted_until: until }));
    const after = (/** @type {number} */ hours) => new Date(Date.now() + hours * hour).toISOString();
    if (isMuted(thread)) return [{ name: t('inbox.unmute'), icon: 'bell', onselect: () => set(null) }];
    return [
        { name: t('inbox.mute1'), icon: 'clock', onselect: () => set(after(1)) },
        { name: t('inbox.mute8'), icon: 'clock', onselect: () => set(after(8)) },
        { name: t('inbox.mute24'), icon: 'clock', onselect: () => set(after(24)) },
        { name: t('inbox.muteAlways'), icon: 'muted', onselect: () => set(always) },
    ];
}

/**
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
async function openLabels(chat, thread) {
    const { labelFields } = await loaded(import('../details/labels.js'));
    openDialog({ title: threadSubject(thread).name, class: 'details' }, labelFields(chat, thread.id));
}

/** Asks, then leaves the thread.
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
export async function leave(chat, { id, title, kind }) {
    const text = t(kind === 'room' ? 'inbox.leaveRoomText' : 'inbox.leaveText', { title: title ?? '' });
    const question = { title: t('inbox.leave'), text, action: t('inbox.leaveAction') };
    if (await confirm(question)) await attempt(() => requests.leaveThread(chat, id));
}
