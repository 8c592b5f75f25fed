// The dialog about one conversation: its people, its settings, and leaving it.

import * as requests from '../../core/requests.js';
import { isMuted } from '../../core/state/attention.js';
import { div, element, p, words } from '../dom.js';
import { formatDuration, t } from '../../language/index.js';
import { leave, muteMenu } from '../inbox/thread-menu.js';
import { attempt } from '../parts/action.js';
import { avatar, threadSubject } from '../parts/avatar.js';
import { field, form, labelled, pictureField, row } from '../parts/controls.js';
import { confirm, openDialog } from '../parts/dialog.js';
import { live } from '../parts/live.js';
import { openMenu } from '../parts/menu.js';
import { handle } from '../parts/people-picker.js';
import { presenceText } from '../parts/time.js';
import { labelFields } from './labels.js';
import { memberList } from './members.js';

/** @import {ChatShape, Person, Retention, Thread} from '../../core/types.js' */

const hour = 3_600;
const day = 24 * hour;
const usualTimes = [day, 7 * day, 28 * day];

/** Opens the dialog about a conversation.
 * @param {ChatShape} chat
 * @param {string} threadID
 */
export function openDetails(chat, threadID) {
    const thread = chat.thread(threadID);
    if (!thread.value) return;
    const { kind, me } = thread.value;
    const isDirect = kind === 'direct';
    const mayEdit = isDirect || me.role !== 'member';
    const subject = threadSubject(thread.value);
    const changePicture = (/** @type {File | null} */ image) => requests.updateThread(chat, threadID, { image });
    const isEditor = mayEdit && !isDirect;
    const dialog = openDialog(
        { title: t('details.title'), class: 'details' },
        isEditor ? pictureField(subject, chat, changePicture) : div('picture-field', avatar(subject, chat, 'large')),
        live(thread, (thread) => {
            if (!thread) queueMicrotask(() => dialog.close());
            return [thread && head(chat, thread)];
        }),
        // Not live: what the user is typing stays while events arrive.
        isEditor && titleForm(chat, thread.value),
        isEditor && topicForm(chat, thread.value),
        retentionField(chat, thread.value, mayEdit),
        notifyField(chat, thread.value),
        labelFields(chat, threadID),
        live(thread, (thread) => [thread && actions(chat, thread)]),
        !isDirect && memberList(chat, threadID),
    );
}

/**
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
function head(chat, thread) {
    const { peer, kind, topic, member_count: count } = thread;
    return div(
        'details-head',
        element('h3', { dir: 'auto' }, threadSubject(thread).name),
        peer ? p('muted', handle(peer)) : p('muted', t(`inbox.${kind}`, { count })),
        peer && live(chat.presence(peer.id), (presence) => [p('muted', presenceText(presence))]),
        (peer ? peer.status_text : topic) && words('', peer ? peer.status_text : topic),
    );
}

/**
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
function titleForm(chat, { id, title }) {
    const attributes = { name: 'title', required: true, maxlength: 128, value: title ?? '' };
    const rename = (/** @type {Record<string, string>} */ { title }) => requests.updateThread(chat, id, { title });
    return form([field(t('details.conversationTitle'), attributes)], t('details.rename'), rename);
}

/** Builds the field for what a group or room is about.
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
function topicForm(chat, { id, topic }) {
    const attributes = { name: 'topic', maxlength: 512, value: topic ?? '' };
    const change = (/** @type {Record<string, string>} */ { topic }) =>
        requests.updateThread(chat, id, { topic: topic.trim() || null });
    return form([field(t('details.topic'), attributes)], t('details.setTopic'), change);
}

/** Builds the choice of how long a thread keeps messages.
 * @param {ChatShape} chat
 * @param {Thread} thread
 * @param {boolean} mayEdit
 */
function retentionField(chat, { id, retention = { keep: 'forever' } }, mayEdit) {
    const own = retention.keep === 'seconds' ? [retention.seconds] : [];
    const times = [...new Set([...usualTimes, ...own])].sort((one, other) => one - other);
    /** @type {Retention[]} */
    const choices = [
        { keep: 'forever' },
        ...times.map((seconds) => ({ keep: /** @type {const} */ ('seconds'), seconds })),
        { keep: 'until_delivered' },
    ];
    const onchange = () =>
        attempt(() => requests.updateThread(chat, id, { retention: choices[select.selectedIndex] }), select);
    const select = element(
        'select',
        { class: 'input', disabled: !mayEdit, onchange },
        choices.map((choice) => {
            const selected = JSON.stringify(choice) === JSON.stringify(retention);
            return element('option', { selected }, retentionText(choice));
        }),
    );
    return labelled(t('details.keep'), select, p('hint', t('details.keepHint')));
}

/** Builds the choice of what the user is notified of in a thread, on all devices.
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
function notifyField(chat, { id, me }) {
    const levels = /** @type {const} */ (['all', 'mentions', 'none']);
    const onchange = () =>
        attempt(() => requests.updateSettings(chat, id, { notify: levels[select.selectedIndex] }), select);
    const select = element(
        'select',
        { class: 'input', onchange },
        levels.map((level) =>
            element('option', { selected: level === (me.notify ?? 'all') }, t(`notice.level.${level}`))
        ),
    );
    return labelled(t('notice.notifications'), select, p('hint', t('notice.levelHint')));
}

/** @param {Retention} retention */
function retentionText(retention) {
    if (retention.keep !== 'seconds') return t(`details.keep.${retention.keep}`);
    const { seconds } = retention;
    if (seconds % day === 0) return formatDuration(seconds / day, 'day');
    return seconds % hour === 0 ? formatDuration(seconds / hour, 'hour') : formatDuration(seconds, 'second');
}

/**
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
function actions(chat, thread) {
    const { peer } = thread;
    const items = muteMenu(chat, thread);
    /** @type {HTMLElement} */
    const mute = isMuted(thread)
        ? row('bell', t('inbox.unmute'), items[0].onselect)
        : row('bell', t('details.mute'), () => openMenu(mute, t('details.mute'), items));
    return div(
        'rows',
        mute,
        peer
            ? live(chat.blocks, (people) => [blockRow(chat, peer, people.some(({ id }) => id === peer.id))])
            : row('leave', t('inbox.leave'), () => leave(chat, thread), 'dangerous'),
    );
}

/**
 * @param {ChatShape} chat
 * @param {Person} peer
 * @param {boolean} isBlocked
 */
function blockRow(chat, { id, name }, isBlocked) {
    if (isBlocked) return row('block', t('details.unblock', { name }), () => chat.unblock(id));
    const title = t('details.block', { name });
    const question = { title, text: t('details.blockText', { name }), action: t('details.blockAction') };
    return row('block', title, async () => await confirm(question) && chat.block(id), 'dangerous');
}
