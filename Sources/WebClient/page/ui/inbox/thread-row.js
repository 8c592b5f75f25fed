// One conversation in the inbox.

import { element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { avatar, threadSubject } from '../parts/avatar.js';
import { icon, iconButton } from '../parts/icon.js';
import { openMenu } from '../parts/menu.js';
import { summary } from '../parts/summary.js';
import { shortTime, timeElement } from '../parts/time.js';
import { threadAddress } from '../shell/router.js';
import { isMuted, threadMenu } from './thread-menu.js';
import { typingText } from './typing.js';

/** @typedef {import('../../core/types.js').Thread} Thread */

export class ThreadRow {
    #chat;
    #link;
    #options;
    #item;
    /** @type {(() => void)[]} */
    #endings = [];
    /** @type {Thread | undefined} */
    #thread;
    /** @type {string | undefined} */
    #shownOn;
    #isOnline = false;
    #typing = '';
    #draft = '';

    /**
     * @param {import('../../core/types.js').ChatShape} chat
     * @param {string} id
     */
    constructor(chat, id) {
        this.#chat = chat;
        this.#link = element('a', { class: 'thread-link', href: threadAddress(id) });
        this.#options = iconButton('more', '', () => this.#openMenu(), { class: 'icon-button thread-options' });
        this.#item = element('li', { class: 'thread' }, this.#link, this.#options);
        this.#endings.push(
            chat.typing(id).subscribe((people) => {
                this.#typing = typingText(people);
                this.#draw();
            }),
            chat.draft(id).subscribe(({ text }) => {
                this.#draft = text.replace(/\s+/g, ' ').trim();
                this.#draw();
            }),
        );
    }

    /** Shows the thread as it is now. Returns the row's element.
     * @param {Thread} thread
     * @param {boolean} isOpen
     */
    show(thread, isOpen) {
        const today = new Date().toDateString();
        if (thread !== this.#thread || today !== this.#shownOn) {
            const isNew = !this.#thread;
            this.#thread = thread;
            this.#shownOn = today;
            if (isNew) this.#followPresence(thread);
            this.#draw();
        }
        if (isOpen) this.#link.setAttribute('aria-current', 'page');
        else this.#link.removeAttribute('aria-current');
        return this.#item;
    }

    focus() {
        this.#link.focus();
    }

    end() {
        for (const end of this.#endings.splice(0)) end();
    }

    /** @param {Thread} thread */
    #followPresence({ peer }) {
        if (!peer) return;
        this.#endings.push(
            this.#chat.presence(peer.id).subscribe(({ presence }) => {
                this.#isOnline = presence === 'online';
                this.#draw();
            }),
        );
    }

    #draw() {
        const thread = this.#thread;
        if (!thread) return;
        const { unread_count: unread, mention_count: mentions, me } = thread;
        const { name } = threadSubject(thread);
        const line = this.#line(thread);
        const muted = isMuted(thread);
        this.#item.classList.toggle('unread', unread > 0);
        this.#link.setAttribute(
            'aria-label',
            [
                name,
                unread > 0 && t('inbox.unreadCount', { count: unread }),
                mentions > 0 && t('inbox.mentionCount', { count: mentions }),
                this.#isOnline && t('inbox.online'),
                line.textContent,
                shortTime(thread.last_activity_at),
                me.pinned && t('inbox.pinned'),
                muted && t('inbox.muted'),
            ].filter((part) => !!part).join(', '),
        );
        const picture = avatar(threadSubject(thread), this.#chat);
        fill(
            this.#link,
            element('span', { class: this.#isOnline ? 'presence online' : 'presence' }, picture),
            element('span', { class: 'thread-title', dir: 'auto' }, name),
            timeElement(thread.last_activity_at, shortTime(thread.last_activity_at)),
            line,
            element(
                'span',
                { class: 'thread-marks' },
                muted && icon('muted'),
                me.pinned && icon('pin'),
                mentions > 0 && element('span', { class: 'badge' }, '@'),
                unread > 0 && element('span', { class: muted ? 'badge quiet' : 'badge' }, compact(unread)),
            ),
        );
        const label = t('inbox.optionsFor', { title: name });
        this.#options.setAttribute('aria-label', label);
        this.#options.title = label;
    }

    /** The second line: who is typing, else what the user began to write, else the last message.
     * @param {Thread} thread
     */
    #line({ id, kind, me, last_message: message }) {
        const line = (/** @type {string} */ name, /** @type {import('../dom.js').Child[]} */ ...children) =>
            element('span', { class: `thread-line ${name}`, dir: 'auto' }, ...children);
        if (me.status === 'invited') return line('strong', t('inbox.invitation'));
        if (this.#typing) return line('strong', this.#typing);
        if (this.#draft && this.#link.getAttribute('aria-current') === null) {
            return line('', element('span', { class: 'draft' }, t('inbox.draft')), ' ', this.#draft);
        }
        if (!message || message.thread_id !== id) return line('');
        const ownID = this.#chat.session.value?.user.id;
        const text = summary(message, ownID);
        if (message.sender?.id === ownID && ownID) return line('', t('inbox.own', { text }));
        const isNamed = kind !== 'direct' && message.sender;
        return line('', isNamed ? t('inbox.from', { name: message.sender?.name ?? '', text }) : text);
    }

    #openMenu() {
        const thread = this.#thread;
        if (!thread) return;
        openMenu(this.#options, this.#options.title, threadMenu(this.#chat, thread));
    }
}

/** @param {number} count */
function compact(count) {
    return t('inbox.count', { count: Math.min(count, 999) }) + (count > 999 ? '+' : '');
}
