// The parts of a message row, each a function that builds its nodes.

import { element } from '../dom.js';
import { attempt, button } from '../parts/action.js';
import { problemText } from '../parts/alert.js';
import { avatar, hue, personSubject } from '../parts/avatar.js';
import { icon } from '../parts/icon.js';
import { summary } from '../parts/summary.js';
import { clockTime, fullTime, timeElement } from '../parts/time.js';
import { formatNumber, t } from '../../language/index.js';
import { mentionable } from '../../text/mentions.js';
import { threadAddress } from '../shell/router.js';
import { attachmentView, outgoingView } from './attachments.js';
import { messageBody, sentence } from './body.js';
import { isExpired } from './status.js';

/** @import { Message, Row } from '../../core/types.js' */
/** @import { Host, Place } from './message-row.js' */

/** Everything that a row shows.
 * @typedef {{row: Row, place: Place, host: Host, isOwn: boolean, isGone: boolean, showWhole: (() => void) | null}} RowState
 */

/** In the order in which they are shown. @type {Record<string, (state: RowState) => Node[]>} */
export const parts = {
    portrait({ row: { message: { sender } }, place, host, isOwn }) {
        const isShown = sender && !isOwn && !host.isDirect && !place.isContinued;
        if (!isShown) return [];
        const picture = avatar(personSubject(sender), host.chat, 'small');
        picture.dataset.user = sender.id;
        return [picture];
    },

    sender({ row: { message: { sender } }, place, host, isOwn }) {
        if (!sender) return [];
        const name = element('bdi', {}, sender.name);
        if (isOwn || host.isDirect || place.isContinued) return [name];
        const made = element('button', { type: 'button', class: 'name', 'data-user': sender.id }, name);
        made.style.setProperty('--hue', String(hue(sender.id)));
        return [made];
    },

    reply({ row: { message }, place: { original }, host, isGone }) {
        return original === undefined || isGone ? [] : [replyLink(message, original, host)];
    },

    attachments({ row: { key, message, state, files }, host, isGone }) {
        if (isGone) return [];
        if (state === 'stored') {
            const stored = message.payload?.attachments;
            return Array.isArray(stored) ? stored.map((file) => attachmentView(file, host.chat, host.openPicture)) : [];
        }
        const cancel = button(t('conversation.cancelSending'), () => host.chat.discard(key), 'small');
        return [...files.map(outgoingView), ...files.length > 0 && state === 'sending' ? [cancel] : []];
    },

    body({ row: { message }, host, showWhole }) {
        const mentioned = message.mentions.flatMap((id) => host.people.get(id) ?? []);
        return messageBody(message, mentionable(mentioned, true), host.me, showWhole);
    },

    meta({ row: { state, message: { timestamp, edited_at, expires_at } }, place: { status }, isGone }) {
        return [
            ...expires_at && !isGone ? [disappearing(expires_at)] : [],
            ...edited_at && !isGone ? [element('span', { title: fullTime(edited_at) }, t('conversation.edited'))] : [],
            timeElement(timestamp, clockTime(timestamp)),
            ...state === 'pending' ? [statusView({ key: 'conversation.pending', count: 0 })] : [],
            ...status ? [statusView(status)] : [],
        ];
    },

    failure({ row: { key, state, problem }, host: { chat } }) {
        return state !== 'failed' ? [] : [
            element(
                'p',
                {},
                element('strong', {}, t('conversation.failed')),
                problem && ' · ',
                problem && problemText(problem),
            ),
            button(t('conversation.retry'), () => chat.retry(key), 'small'),
            button(t('conversation.discard'), () => chat.discard(key), 'small'),
        ];
    },

    reactions({ row: { message }, host, isGone }) {
        return isGone
            ? []
            : Object.entries(message.reactions).map(([emoji, { count, me = false }]) =>
                element('button', {
                    type: 'button',
                    class: 'reaction',
                    'aria-pressed': String(me),
                    title: host.reactionTitles.get(`${message.id} ${emoji} ${count}`),
                    onclick: () => attempt(() => host.chat.react(message, emoji, !me)),
                }, `${emoji} ${formatNumber(count)}`)
            );
    },
};

/** @param {Message} message @param {Message | null} original null: it does not exist any more @param {Host} host */
function replyLink({ thread_id, reply_to }, original, host) {
    const id = reply_to ?? '';
    const name = original?.sender?.name ?? t('conversation.replyToDeleted');
    const text = original && !isExpired(original) ? summary(original, host.me) : t('conversation.deleted');
    const onclick = (/** @type {MouseEvent} */ event) => {
        event.preventDefault();
        host.showMessage(id);
    };
    return element(
        'a',
        { class: 'quotation', href: threadAddress(thread_id, id), onclick },
        element('span', { class: 'quotation-sender' }, ...sentence('conversation.replyTo', { name })),
        ' ',
        element('span', {}, element('bdi', {}, text)),
    );
}

/** @param {string} at */
function disappearing(at) {
    const text = t('conversation.disappears', { time: fullTime(at) });
    return element('span', { title: text }, icon('clock'), element('span', { class: 'visually-hidden' }, text));
}

/** @param {{key: string, count: number}} status */
function statusView({ key, count }) {
    const isWaiting = key === 'conversation.sending' || key === 'conversation.pending';
    const name = isWaiting ? 'clock' : key === 'conversation.sent' ? 'check' : 'checks';
    return element('span', { class: 'status' }, icon(name), element('span', {}, t(key, { count })));
}
