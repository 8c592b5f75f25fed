// What happens in a conversation, in one line: a message, as lists and quotations show it, and who is typing.

import { formatList, t } from '../../language/index.js';
import { firstPart } from '../../text/tokens.js';

/** @import {Message, Person} from '../../core/types.js' */
/** @typedef {{id: string, name: string}} Named */
/** @typedef {{action?: string, by?: Named, user?: Named, title?: string}} SystemPayload */

/** More than a line has room for. A screen reader reads all of it. */
const lengthMax = 200;

/** Returns a message as one line of text, without its sender.
 * @param {Message} message
 * @param {string | undefined} ownID
 * @returns {string}
 */
export function summary(message, ownID) {
    const { type, payload, deleted_at } = message;
    if (deleted_at) return t('shell.messageDeleted');
    if (type === 'system') return systemText(message, ownID);
    if (!payload) return t('shell.messageGone');
    if (type === 'encrypted') return t('shell.messageEncrypted');
    if (type === 'location') return payload.label || t('shell.messageLocation');
    const text = firstPart(payload.text?.replace(/\s+/g, ' ').trim() ?? '', lengthMax);
    return text || attachments(payload.attachments ?? []);
}

/** Returns what a system message says, such as "Ann added Ben".
 * @param {Message} message
 * @param {string | undefined} ownID
 * @returns {string}
 */
export function systemText({ payload }, ownID) {
    const { action, by, user, title = '' } = /** @type {SystemPayload} */ (payload ?? {});
    const isOwn = (action === 'joined' || action === 'left' ? user : by)?.id === ownID;
    const userName = (user?.id === ownID && !isOwn ? t('shell.youAsObject') : user?.name) ?? '';
    const known = ['joined', 'left', 'added', 'removed', 'renamed'].includes(action ?? '');
    return known
        ? t(`shell.system.${action}.${isOwn ? 'you' : 'other'}`, { by: by?.name ?? '', user: userName, title })
        : /** @type {{text?: string}} */ (payload ?? {}).text || t('shell.system.unknown');
}

/** Returns who is typing, such as "Ben is typing…", or an empty text.
 * @param {Person[]} people
 */
export function typingText(people) {
    if (people.length === 0) return '';
    if (people.length > 3) return t('inbox.manyTyping');
    return t('inbox.typing', { names: formatList(people.map((person) => person.name)), count: people.length });
}

/** @param {import('../../core/types.js').Attachment[]} files */
function attachments(files) {
    const { length: count } = files;
    if (count === 0) return t('shell.messageUnknown');
    if (files.every((file) => file.content_type?.startsWith('image/'))) return t('shell.messagePictures', { count });
    return (count === 1 && files[0].name) || t('shell.messageFiles', { count });
}
