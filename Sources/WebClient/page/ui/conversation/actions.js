// What can be done with a message: the menu and its dialogs.

import * as requests from '../../core/requests.js';
import { p } from '../dom.js';
import { openReactionDialog } from '../../emoji/picker.js';
import { attempt } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { item, list } from '../parts/controls.js';
import { confirm, openDialog } from '../parts/dialog.js';
import { openMenu } from '../parts/menu.js';
import { shortTime } from '../parts/time.js';
import { t } from '../../language/index.js';
import { permissions } from './permissions.js';

/** @typedef {import('../../core/types.js').Row} Row */
/** @typedef {import('../../core/types.js').Message} Message */
/** @typedef {import('../../core/types.js').ChatShape} Chat */

/** Opens the menu of a message.
 * @param {Row} row
 * @param {HTMLElement} button
 * @param {import('../../core/types.js').Thread | null} thread
 * @param {import('./log.js').Log} log
 */
export function openActions(row, button, thread, log) {
    const { message } = row;
    const { chat } = log;
    const may = permissions(row, thread, chat.session.value?.user.id);
    /** @type {[keyof typeof may, import('../parts/icon.js').IconName, () => unknown][]} */
    const actions = [
        ['reply', 'reply', () => log.onreply(message)],
        ['react', 'emoji', () => react(chat, message)],
        ['copy', 'copy', () => copy(String(message.payload?.text))],
        ['edit', 'edit', () => log.edit(row.key)],
        ['seenBy', 'checks', () => showReceipts(chat, message)],
        ['markUnread', 'unread', () => attempt(() => chat.markUnread(message.thread_id, message.seq))],
        ['deleteForEveryone', 'trash', () => deleteForEveryone(chat, message)],
        ['deleteForMe', 'trash', () => attempt(() => requests.deleteMessage(chat, message, 'me'))],
        ['cancelSending', 'close', () => attempt(() => chat.discard(row.key))],
    ];
    const items = actions.filter(([name]) => may[name]).map(([name, icon, onselect]) => (
        { name: t(`conversation.${name}`), icon, onselect, isDangerous: name.startsWith('delete') }
    ));
    openMenu(button, t('conversation.actions'), items, button.closest('article') ?? button);
}

/** @param {Chat} chat @param {Message} message */
function react(chat, message) {
    openReactionDialog((emoji) => attempt(() => chat.react(message, emoji, message.reactions[emoji]?.me !== true)));
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
    if (await confirm(question)) attempt(() => requests.deleteMessage(chat, message, 'everyone'));
}

/** @param {Chat} chat @param {Message} message */
async function showReceipts(chat, message) {
    await attempt(async () => {
        const receipts = (await requests.receipts(chat, message)).filter(({ read_at }) => read_at !== null);
        const readers = receipts.map(({ user, read_at }) =>
            item(avatar(personSubject(user), chat, 'small'), user.name, [shortTime(read_at ?? '')])
        );
        const title = t('conversation.seenBy');
        openDialog({ title }, readers.length ? list(title, readers) : p('', t('conversation.seenByNobody')));
    });
}
