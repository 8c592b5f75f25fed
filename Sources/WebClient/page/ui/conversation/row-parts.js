// The parts of a message row. Each is built from a key: what it depends on. Equal keys mean equal parts.

import { element } from '../dom.js';
import { attempt } from '../parts/alert.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { icon } from '../parts/icon.js';
import { summary } from '../parts/summary.js';
import { clockTime, fullTime, timeElement } from '../parts/time.js';
import { formatNumber, t } from '../../language/index.js';
import { threadAddress } from '../shell/router.js';
import { attachmentView, outgoingView } from './attachments.js';
import { messageBody, sentence } from './body.js';
import { isExpired } from './status.js';

/** @typedef {import('./message-row.js').RowState} RowState */
/** @typedef {{key: (state: RowState) => unknown, build: (state: RowState) => Node[]}} Part */

/** @type {Record<string, Part>} in the order in which they are shown */
export const parts = {
    portrait: {
        key: ({ row, place, host, isOwn }) => isOwn || host.isDirect || place.isContinued || row.message.sender,
        build: ({ row, place, host, isOwn }) => {
            const { sender } = row.message;
            return !sender || isOwn || host.isDirect || place.isContinued
                ? []
                : [avatar(personSubject(sender), host.chat, 'small')];
        },
    },
    sender: {
        key: ({ row }) => row.message.sender?.name,
        build: ({ row }) => row.message.sender ? [element('bdi', {}, row.message.sender.name)] : [],
    },
    reply: {
        key: (state) => {
            const original = originalOf(state);
            return original && [original.sender?.name, summaryOf(original, state)];
        },
        build: (state) => {
            const original = originalOf(state);
            return original === undefined ? [] : [replyLink(state, original)];
        },
    },
    attachments: {
        key: ({ row, isGone }) => [isGone, row.state === 'stored' ? row.message.payload?.attachments : row.files],
        build: ({ row, host, isGone }) => {
            if (isGone) return [];
            if (row.state === 'stored') {
                const files = row.message.payload?.attachments;
                return Array.isArray(files)
                    ? files.map((file) => attachmentView(file, host.chat, host.openPicture))
                    : [];
            }
            const cancel = () => attempt(() => host.chat.discard(row.key));
            const isSending = row.files.length > 0 && row.state === 'sending';
            return [...row.files.map(outgoingView), ...isSending ? [button('cancelSending', cancel)] : []];
        },
    },
    body: {
        key: ({ row, isGone, host }) => [row.message.payload, row.message.deleted_at, isGone, mentioned(row, host)],
        build: ({ row, host }) => messageBody(row.message, mentioned(row, host), host.me),
    },
    meta: {
        key: (
            { row, place, isGone },
        ) => [row.message.timestamp, row.message.edited_at, row.message.expires_at, isGone, place.status],
        build: ({ row, place, isGone }) => {
            const { timestamp, edited_at, expires_at } = row.message;
            const nodes = [];
            if (expires_at && !isGone) nodes.push(disappearing(expires_at));
            if (edited_at && !isGone) {
                nodes.push(element('span', { title: fullTime(edited_at) }, t('conversation.edited')));
            }
            nodes.push(timeElement(timestamp, clockTime(timestamp)));
            if (place.status) nodes.push(status(place.status));
            return nodes;
        },
    },
    failure: {
        key: ({ row }) => row.state === 'failed' && row.problem,
        build: ({ row, host }) =>
            row.state !== 'failed' ? [] : [
                element(
                    'p',
                    {},
                    element('strong', {}, t('conversation.failed')),
                    row.problem ? ` · ${row.problem}` : '',
                ),
                button('retry', () => attempt(() => host.chat.retry(row.key))),
                button('discard', () => attempt(() => host.chat.discard(row.key))),
            ],
    },
    reactions: {
        key: ({ row, isGone }) => isGone || row.message.reactions,
        build: ({ row, host, isGone }) => {
            if (isGone) return [];
            return Object.entries(row.message.reactions).map(([emoji, { count, me }]) =>
                element('button', {
                    type: 'button',
                    class: 'reaction',
                    'aria-pressed': String(me === true),
                    onclick: () => attempt(() => host.chat.react(row.message, emoji, me !== true)),
                }, `${emoji} ${formatNumber(count)}`)
            );
        },
    },
};

/** @param {RowState} state */
function originalOf({ row, host, isGone }) {
    return row.message.reply_to && !isGone ? host.original(row.message) : undefined;
}

/** @param {RowState} state @param {import('../../core/types.js').Message | null} original */
function replyLink(state, original) {
    const { row, host } = state;
    const { thread_id, reply_to } = row.message;
    const name = original?.sender?.name ?? t('conversation.replyToDeleted');
    return element(
        'a',
        {
            class: 'quotation',
            href: threadAddress(thread_id, reply_to ?? undefined),
            onclick: (/** @type {MouseEvent} */ event) => {
                event.preventDefault();
                if (reply_to) host.showMessage(reply_to);
            },
        },
        element('span', { class: 'quotation-sender' }, ...sentence('conversation.replyTo', { name })),
        ' ',
        element('span', { class: 'quotation-text', dir: 'auto' }, summaryOf(original, state)),
    );
}

/** @param {import('../../core/types.js').Message | null} original @param {RowState} state */
function summaryOf(original, { host }) {
    return original && !isExpired(original) ? summary(original, host.me) : t('conversation.deleted');
}

/** The people whom a message mentions. @param {import('../../core/types.js').Row} row @param {import('./message-row.js').Host} host */
function mentioned({ message }, host) {
    return message.mentions.flatMap((id) => {
        const person = host.people.get(id);
        return person ? [{ id, name: person.name }] : [];
    });
}

/** @param {string} key @param {() => unknown} onclick */
function button(key, onclick) {
    return element('button', { type: 'button', class: 'button small', onclick }, t(`conversation.${key}`));
}

/** @param {string} at */
function disappearing(at) {
    const text = t('conversation.disappears', { time: fullTime(at) });
    return element(
        'span',
        { class: 'disappearing', title: text },
        icon('clock'),
        element('span', { class: 'visually-hidden' }, text),
    );
}

/** @param {{key: string, count: number}} status */
function status({ key, count }) {
    const name = key === 'conversation.sending' ? 'clock' : key === 'conversation.sent' ? 'check' : 'checks';
    const isRead = key === 'conversation.read' || key === 'conversation.readBy';
    return element(
        'span',
        { class: isRead ? 'status read' : 'status' },
        icon(name),
        element('span', {}, t(key, { count })),
    );
}
