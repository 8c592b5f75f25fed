// A message in one line, as lists and quotations show it, and the words of system messages.

import { t } from '../../language/index.js';

/** @typedef {import('../../core/types.js').Message} Message */

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
    const text = payload.text?.replace(/\s+/g, ' ').trim();
    return text || attachments(payload.attachments ?? []);
}

/** Returns what a system message says, such as "Ann added Ben".
 * @param {Message} message
 * @param {string | undefined} ownID
 * @returns {string}
 */
export function systemText({ payload }, ownID) {
    const { action, by, user, title } =
        /** @type {{action?: string, by?: {id: string, name: string}, user?: {id: string, name: string}, title?: string}} */ (payload ??
            {});
    const subject = action === 'joined' || action === 'left' ? user : by;
    const who = subject?.id === ownID ? 'you' : 'other';
    const values = { by: by?.name ?? '', user: user?.name ?? '', title: title ?? '' };
    const object = user?.id === ownID ? t('shell.youAsObject') : values.user;
    switch (action) {
        case 'joined':
        case 'left':
        case 'renamed':
            return t(`shell.system.${action}.${who}`, values);
        case 'added':
        case 'removed':
            return t(`shell.system.${action}.${who}`, { ...values, user: object });
        default:
            return t('shell.system.unknown');
    }
}

/** @param {import('../../core/types.js').Attachment[]} files */
function attachments(files) {
    const pictures = files.filter((file) => file.content_type?.startsWith('image/')).length;
    if (files.length === 0) return t('shell.messageUnknown');
    if (pictures === files.length) return t('shell.messagePictures', { count: pictures });
    return files.length === 1 ? files[0].name ?? t('shell.messageFiles', { count: 1 }) : t('shell.messageFiles', {
        count: files.length,
    });
}
