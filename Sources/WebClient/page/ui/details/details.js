// The dialog about one conversation: its people, its settings, and leaving it.

import { Component, element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { isMuted, leave, muteMenu } from '../inbox/thread-menu.js';
import { attempt } from '../parts/alert.js';
import { avatar, threadSubject } from '../parts/avatar.js';
import { confirm, openDialog } from '../parts/dialog.js';
import { icon } from '../parts/icon.js';
import { openMenu } from '../parts/menu.js';
import { pictureField } from '../parts/picture-field.js';
import { presenceText } from '../parts/presence.js';
import { MemberList } from './members.js';
import { retentionField } from './retention.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */
/** @typedef {import('../../core/types.js').Thread} Thread */

/** Opens the dialog about a conversation.
 * @param {Chat} chat
 * @param {string} threadID
 */
export function openDetails(chat, threadID) {
    openDialog({ title: t('details.title'), class: 'details-dialog' }, new Details(chat, threadID));
}

class Details extends Component {
    #head = element('div', { class: 'details-head' });
    #form = element('div');
    #actions = element('div', { class: 'rows' });
    #presence = '';
    /** @type {boolean | null} */
    #mayEdit = null;

    /**
     * @param {Chat} chat
     * @param {string} threadID
     */
    constructor(chat, threadID) {
        super();
        this.chat = chat;
        this.threadID = threadID;
    }

    connectedCallback() {
        const thread = this.chat.thread(this.threadID);
        const members = thread.value?.kind === 'direct' ? null : new MemberList(this.chat, this.threadID);
        fill(this, this.#head, this.#form, this.#actions, members);
        this.follow(thread, (thread) => {
            if (thread) this.#show(thread);
            else this.closest('dialog')?.close();
        });
        this.follow(this.chat.blocks, () => thread.value && this.#show(thread.value));
        const peer = thread.value?.peer;
        if (!peer) return;
        this.follow(this.chat.presence(peer.id), (presence) => {
            this.#presence = presenceText(presence);
            if (thread.value) this.#showHead(thread.value);
        });
    }

    /** @param {Thread} thread */
    #show(thread) {
        this.#showHead(thread);
        const mayEdit = thread.kind === 'direct' || thread.me.role !== 'member';
        // The form keeps what the user is typing while events arrive.
        if (mayEdit !== this.#mayEdit) this.#showForm(thread, mayEdit);
        this.#mayEdit = mayEdit;
        this.#showActions(thread);
    }

    /** @param {Thread} thread */
    #showHead(thread) {
        const subject = threadSubject(thread);
        const { peer, kind, member_count: count } = thread;
        const facts = peer ? [peer.username && `@${peer.username}`, this.#presence] : [t(`inbox.${kind}`, { count })];
        fill(
            this.#head,
            avatar(subject, this.chat, 'large'),
            element('h3', { dir: 'auto' }, subject.name),
            element('p', { class: 'muted' }, facts.filter((fact) => !!fact).join(' · ')),
            peer?.status_text && element('p', { dir: 'auto' }, peer.status_text),
        );
    }

    /**
     * @param {Thread} thread
     * @param {boolean} mayEdit
     */
    #showForm(thread, mayEdit) {
        const retention = retentionField(
            thread.retention,
            mayEdit,
            (value) => attempt(() => this.chat.updateThread(thread.id, { retention: value })),
        );
        fill(this.#form, mayEdit && thread.kind !== 'direct' && this.#titleForm(thread), retention);
    }

    /** @param {Thread} thread */
    #titleForm(thread) {
        const input = element('input', { class: 'input', required: true, maxlength: 128, value: thread.title ?? '' });
        const save = element('button', { class: 'button', type: 'submit' }, t('details.rename'));
        const rename = (/** @type {SubmitEvent} */ event) => {
            event.preventDefault();
            attempt(() => this.chat.updateThread(thread.id, { title: input.value.trim() }), save);
        };
        return element(
            'form',
            { class: 'form', onsubmit: rename },
            element(
                'div',
                { class: 'field-row' },
                element('label', { class: 'field' }, t('details.conversationTitle'), input),
                save,
            ),
            pictureField(
                threadSubject(thread),
                this.chat,
                (image) => attempt(() => this.chat.updateThread(thread.id, { image })),
            ),
        );
    }

    /** @param {Thread} thread */
    #showActions(thread) {
        const muted = isMuted(thread);
        const mute = row('bell', t(muted ? 'inbox.unmute' : 'details.mute'), () => {
            const items = muteMenu(this.chat, thread);
            if (muted) items[0].onselect();
            else openMenu(mute, t('details.mute'), items);
        });
        const { peer } = thread;
        fill(
            this.#actions,
            mute,
            peer && this.#blockRow(peer),
            thread.kind !== 'direct' && row('leave', t('inbox.leave'), () => leave(this.chat, thread), true),
        );
    }

    /** @param {import('../../core/types.js').Person} peer */
    #blockRow({ id, name }) {
        const isBlocked = !!this.chat.blocks.value?.some((person) => person.id === id);
        if (isBlocked) {
            return row('block', t('details.unblock', { name }), () => attempt(() => this.chat.unblock(id)));
        }
        return row('block', t('details.block', { name }), async () => {
            const question = {
                title: t('details.block', { name }),
                text: t('details.blockText', { name }),
                action: t('details.blockAction'),
            };
            if (await confirm(question)) await attempt(() => this.chat.block(id));
        }, true);
    }
}

/** Builds a button across the width of the dialog.
 * @param {import('../parts/icon.js').IconName} name
 * @param {string} label
 * @param {() => void} onclick
 * @param {boolean} [isDangerous]
 */
function row(name, label, onclick, isDangerous = false) {
    return element(
        'button',
        { class: isDangerous ? 'row dangerous' : 'row', type: 'button', onclick },
        icon(name),
        element('span', {}, label),
    );
}

customElements.define('parley-details', Details);
