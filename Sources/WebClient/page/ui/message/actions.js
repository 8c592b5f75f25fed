// What can be done with a message: the menu and its dialogs.

import * as requests from '../../core/requests.js';
import { div, element, p } from '../dom.js';
import { quickEmoji, remember } from '../../emoji/recent.js';
import { attempt, loaded } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { item, list } from '../parts/controls.js';
import { confirm, openDialog } from '../parts/dialog.js';
import { openMenu } from '../parts/menu.js';
import { shortTime } from '../parts/time.js';
import { t } from '../../language/index.js';
import { threadAddress } from '../shell/router.js';
import { permissions } from './permissions.js';

/** @typedef {import('../../core/types.js').Row} Row */
/** @typedef {import('../../core/types.js').Message} Message */
/** @typedef {import('../../core/types.js').ChatShape} Chat */
/** @typedef {import('../conversation/log.js').Log} Log */

/** Opens the menu of a message.
 * @param {Row} row
 * @param {HTMLElement} button
 * @param {Log} log
 * @param {{x: number, y: number}} [at] the place of the pointer
 */
export function openActions(row, button, log, at) {
    const { message } = row;
    const { chat, thread } = log;
    const may = permissions(row, thread, chat.session.value?.user.id);
    const returnTo = button.closest('article') ?? button;
    const profile = async () => (await loaded(import('../people/card.js'))).openCard(chat, sender, button);
    const sender = message.sender?.id ?? '';
    /** @type {[keyof typeof may, import('../parts/icon.js').IconName, () => unknown][]} */
    const actions = [
        ['reply', 'reply', () => log.onreply(message)],
        ['react', 'emoji', () => attempt(() => pickReaction(chat, message, button, returnTo))],
        ['copy', 'copy', () => copy(String(message.payload?.text))],
        ['copyLink', 'link', () => copy(new URL(threadAddress(message.thread_id, message.id), location.href).href)],
        ['forward', 'forward', async () => (await loaded(import('./forward.js'))).openForward(chat, message)],
        ['edit', 'edit', () => log.edit(row.key)],
        ['seenBy', 'checks', () => showReceipts(chat, message)],
        ['reactors', 'people', async () => (await loaded(import('./reactors.js'))).openReactors(chat, message)],
        ['history', 'clock', async () => (await loaded(import('./history.js'))).openHistory(chat, message)],
        ['profile', 'info', profile],
        ['markUnread', 'unread', () => chat.markUnread(message.thread_id, message.seq)],
        ['report', 'flag', async () => (await loaded(import('./report.js'))).openReport(chat, { message })],
        ['deleteForEveryone', 'trash', () => deleteForEveryone(chat, message)],
        ['deleteForMe', 'trash', () => requests.deleteMessage(chat, message, 'me')],
        ['cancelSending', 'close', () => chat.discard(row.key)],
    ];
    const items = actions.filter(([name]) => may[name]).map(([name, icon, onselect]) => ({
        name: t(`conversation.${name}`),
        icon,
        onselect: () => attempt(onselect),
        isDangerous: name.startsWith('delete'),
    }));
    const top = may.react ? quickRow(chat, message) : undefined;
    openMenu(button, t('conversation.actions'), items, { returnTo, at, top });
}

/** Asks for an emoji, and reacts with it or takes that reaction back.
 * @param {Chat} chat @param {Message} message @param {HTMLElement} anchor @param {HTMLElement} [returnTo]
 */
export async function pickReaction(chat, message, anchor, returnTo) {
    const { openReactionPicker } = await loaded(import('../../emoji/picker.js'));
    openReactionPicker(anchor, (emoji) => toggleReaction(chat, message, emoji), returnTo);
}

/** Reacts, or takes the reaction back.
 * @param {Chat} chat @param {Message} message @param {string} emoji
 */
export function toggleReaction(chat, message, emoji) {
    remember(emoji);
    return attempt(() => chat.react(message, emoji, message.reactions[emoji]?.me !== true));
}

/** Builds the emoji above the items of the menu.
 * @param {Chat} chat @param {Message} message
 */
function quickRow(chat, message) {
    const row = div('quick-emoji');
    for (const emoji of quickEmoji(6)) {
        const onclick = () => {
            row.parentElement?.hidePopover();
            toggleReaction(chat, message, emoji);
        };
        const title = t('conversation.reactWith', { emoji });
        row.append(
            element(
                'button',
                { type: 'button', role: 'menuitem', class: 'emoji', tabindex: -1, title, onclick },
                emoji,
            ),
        );
    }
    return row;
}

/** @param {string} text */
async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        showProblem(t('conversation.copyFailed'));
    }
}

/** @param {Chat} chat @param {Message} message */
async function deleteForEveryone(chat, message) {
    const question = {
        title: t('conversation.deleteTitle'),
        text: t('conversation.deleteText'),
        action: t('conversation.delete'),
    };
    if (await confirm(question)) await requests.deleteMessage(chat, message, 'everyone');
}

/** @param {Chat} chat @param {Message} message */
async function showReceipts(chat, message) {
    const receipts = (await requests.receipts(chat, message)).filter(({ read_at }) => read_at !== null);
    const readers = receipts.map(({ user, read_at }) =>
        item(avatar(personSubject(user), chat, 'small'), user.name, [shortTime(read_at ?? '')])
    );
    const title = t('conversation.seenBy');
    openDialog({ title }, readers.length ? list(title, readers) : p('', t('conversation.seenByNobody')));
}
