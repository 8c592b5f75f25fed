// The dialog about one conversation: its people, its settings, and leaving it.

import { element } from '../dom.js';
import { t } from '../../language/index.js';
import { isMuted, leave, muteMenu } from '../inbox/thread-menu.js';
import { attempt } from '../parts/alert.js';
import { avatar, threadSubject } from '../parts/avatar.js';
import { field, form, live, row } from '../parts/controls.js';
import { confirm, openDialog } from '../parts/dialog.js';
import { openMenu } from '../parts/menu.js';
import { pictureField } from '../parts/picture-field.js';
import { presenceText } from '../parts/presence.js';
import { memberList } from './members.js';
import { retentionField } from './retention.js';

/** @import {ChatShape, Person, Thread} from '../../core/types.js' */

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
    const dialog = openDialog(
        { title: t('details.title'), class: 'details' },
        live(thread, (thread) => {
            if (!thread) queueMicrotask(() => dialog.close());
            return thread ? [head(chat, thread)] : [];
        }),
        mayEdit && !isDirect && titleForm(chat, thread.value),
        retentionField(
            thread.value.retention,
            mayEdit,
            (retention) => attempt(() => chat.updateThread(threadID, { retention })),
        ),
        live(thread, (thread) => thread ? [actions(chat, thread)] : []),
        !isDirect && memberList(chat, threadID),
    );
}

/**
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
function head(chat, thread) {
    const subject = threadSubject(thread);
    const { peer, kind, member_count: count } = thread;
    return element(
        'div',
        { class: 'details-head' },
        avatar(subject, chat, 'large'),
        element('h3', { dir: 'auto' }, subject.name),
        element(
            'p',
            { class: 'muted' },
            peer
                ? live(chat.presence(peer.id), (presence) => [
                    [peer.username && `@${peer.username}`, presenceText(presence)].filter((fact) => !!fact).join(' · '),
                ])
                : t(`inbox.${kind}`, { count }),
        ),
        peer?.status_text && element('p', { dir: 'auto' }, peer.status_text),
    );
}

/**
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
function titleForm(chat, thread) {
    const title = field(t('details.conversationTitle'), {
        name: 'title',
        required: true,
        maxlength: 128,
        value: thread.title ?? '',
    });
    const picture = pictureField(
        threadSubject(thread),
        chat,
        (image) => attempt(() => chat.updateThread(thread.id, { image })),
    );
    return [picture, form([title], t('details.rename'), ({ title }) => chat.updateThread(thread.id, { title }))];
}

/**
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
function actions(chat, thread) {
    const items = muteMenu(chat, thread);
    const { peer } = thread;
    /** @type {HTMLElement} */
    const mute = isMuted(thread)
        ? row('bell', t('inbox.unmute'), items[0].onselect)
        : row('bell', t('details.mute'), () => openMenu(mute, t('details.mute'), items));
    return element(
        'div',
        { class: 'rows' },
        mute,
        peer && live(chat.blocks, (people) => [blockRow(chat, peer, people.some(({ id }) => id === peer.id))]),
        thread.kind !== 'direct' && row('leave', t('inbox.leave'), () => leave(chat, thread), 'dangerous'),
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
