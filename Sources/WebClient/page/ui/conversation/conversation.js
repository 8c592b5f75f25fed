// An open conversation: its heading, its messages, and the form in which the next one is written.

import { Component, div, element, fill, p } from '../dom.js';
import { attempt, iconButton, loaded } from '../parts/action.js';
import { avatar, threadSubject } from '../parts/avatar.js';
import { icon } from '../parts/icon.js';
import { typingText } from '../parts/summary.js';
import { presenceText } from '../parts/time.js';
import { formatNumber, t } from '../../language/index.js';
import { closeThread } from '../shell/router.js';
import { Composer } from './composer.js';
import { Log } from './log.js';

/** @typedef {import('../../core/types.js').Thread} Thread */

/** `chat` and `threadID` are set before the element enters the page. */
export class Conversation extends Component {
    chat = /** @type {import('../../core/types.js').ChatShape} */ (/** @type {unknown} */ (null));
    threadID = '';
    /** @type {string | null} */
    #messageID = null;
    #picture = element('span');
    #title = element('bdi');
    #facts = p('hint');
    #typing = element('p', { role: 'status', 'aria-label': t('conversation.typing') });
    #jump = iconButton('down', t('conversation.jump'), () => this.#log?.showNewest(), {
        class: 'icon-button jump',
        hidden: true,
    });
    /** For those who may. A small screen has it in the details only. */
    #addPeople = iconButton(
        'invite',
        t('details.addPeople'),
        async () => (await loaded(import('../details/members.js'))).openAddPeople(this.chat, this.threadID),
        { class: 'icon-button invite-button', hidden: true },
    );
    #newCount = element('span', { class: 'badge', hidden: true });
    /** The day of what is in view. */
    #day = element('button', {
        type: 'button',
        class: 'day-pill',
        hidden: true,
        title: t('conversation.jumpToDate'),
        onclick: () =>
            attempt(async () => {
                const { openDateChoice } = await loaded(import('../search/date.js'));
                openDateChoice(this.chat, this.threadID, this.#day);
            }),
    });
    #frame = div('log-frame');
    #footer = div('conversation-footer');
    /** @type {Log | null} */
    #log = null;
    /** @type {Composer | null} */
    #composer = null;
    /** @type {Thread | null} */
    #thread = null;
    #presence = '';
    #dragDepth = 0;
    #wantsFocus = false;

    get messageID() {
        return this.#messageID;
    }

    /** The message to bring into view; setting it again does so once more. */
    set messageID(id) {
        this.#messageID = id;
        if (id && this.#log) this.#log.showMessage(id);
    }

    connectedCallback() {
        const details = async () =>
            (await loaded(import('../details/details.js'))).openDetails(this.chat, this.threadID);
        this.#jump.append(this.#newCount);
        fill(
            this,
            element(
                'header',
                { class: 'conversation-header' },
                iconButton('back', t('shell.back'), closeThread, { class: 'icon-button back-button' }),
                this.#picture,
                div('conversation-names', element('h1', {}, this.#title), this.#facts, this.#typing),
                this.#addPeople,
                iconButton('search', t('conversation.searchHere'), () => this.searchHere()),
                iconButton('info', t('conversation.details'), details),
            ),
            this.#frame,
            this.#footer,
            element('div', { class: 'drop-target', 'aria-hidden': 'true' }, icon('attach'), t('conversation.drop')),
        );
        this.#picture.addEventListener('click', () => attempt(details));
        for (const type of /** @type {const} */ (['dragenter', 'dragover', 'dragleave', 'drop'])) {
            this.addEventListener(type, (event) => this.#handleDrag(event));
        }
        this.follow(this.chat.thread(this.threadID), (thread) => thread && this.#show(thread));
        this.follow(this.chat.typing(this.threadID), (people) => {
            this.#typing.textContent = typingText(people);
            this.#facts.hidden = people.length > 0;
        });
    }

    /** Moves the focus to the text of a new message, now or once the thread is known. */
    focusComposer() {
        this.#wantsFocus = true;
        this.#composer?.focus();
    }

    /** Opens the search of this conversation. */
    searchHere() {
        const { value: thread } = this.chat.thread(this.threadID);
        if (thread) {
            attempt(async () => (await loaded(import('../search/panel.js'))).openSearch(this.chat, thread, this));
        }
    }

    /** @param {Thread} thread */
    #show(thread) {
        const before = this.#thread;
        this.#thread = thread;
        const subject = threadSubject(thread);
        this.#title.textContent = subject.name;
        if (!before || subject.image !== threadSubject(before).image || subject.name !== threadSubject(before).name) {
            fill(this.#picture, avatar(subject, this.chat));
        }
        const { peer } = thread;
        if (peer && !before) {
            this.follow(this.chat.presence(peer.id), (presence) => {
                this.#presence = presenceText(presence);
                this.#facts.textContent = this.#presence;
            });
        }
        const members = [t('inbox.members', { count: thread.member_count }), thread.topic];
        this.#facts.textContent = peer ? this.#presence : members.filter((part) => part).join(' · ');
        this.#addPeople.hidden = !!peer || thread.me.role === 'member' || thread.me.status !== 'joined';
        if (before?.me.status !== thread.me.status) this.#showPart(thread);
        this.#showJump();
    }

    /** Members read and write; invited people decide first. @param {Thread} thread */
    #showPart(thread) {
        this.#log = null;
        this.#composer = null;
        if (thread.me.status === 'joined') {
            const log = this.#log = new Log(this.chat, this.threadID, this.#messageID);
            const composer = this.#composer = new Composer(this.chat, this.threadID);
            log.onreply = (message) => composer.reply(message);
            log.onmove = () => this.#showJump();
            log.onday = (day) => {
                this.#day.hidden = day === '';
                if (day && day !== this.#day.textContent) this.#day.textContent = day;
            };
            composer.oneditnewest = () => attempt(() => log.editNewest());
            composer.onsent = () => {
                log.showNewest();
                this.#offerNotifications();
            };
        }
        fill(this.#frame, this.#log, this.#day, this.#jump);
        fill(this.#footer, this.#composer);
        if (thread.me.status === 'invited') attempt(() => this.#invite(thread));
        if (this.#wantsFocus) this.#composer?.focus();
    }

    /** After the first message the browser's permission is asked for, if the person has not decided. */
    async #offerNotifications() {
        if (globalThis.Notification?.permission !== 'default') return;
        const { offerNotifications } = await import('../shell/notification-offer.js');
        offerNotifications(this.chat, this.#footer);
    }

    /** @param {Thread} thread */
    async #invite(thread) {
        const { invitation } = await loaded(import('../inbox/thread-menu.js'));
        if (this.#thread?.me.status === 'invited') fill(this.#footer, invitation(this.chat, thread));
    }

    #showJump() {
        const isAtNewest = this.#log?.isAtNewest ?? true;
        // The focus must not stay on a button that is gone.
        if (isAtNewest && document.activeElement === this.#jump) this.#log?.focusStop();
        this.#jump.hidden = isAtNewest;
        const count = this.#thread?.unread_count ?? 0;
        this.#newCount.hidden = count === 0;
        this.#newCount.textContent = formatNumber(count);
        this.#jump.setAttribute('aria-description', count > 0 ? t('conversation.newCount', { count }) : '');
    }

    /** Files may be dropped anywhere on the conversation. @param {DragEvent} event */
    #handleDrag(event) {
        if (!this.#composer || !event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        if (event.type === 'dragenter') this.#dragDepth += 1;
        else if (event.type === 'dragleave') this.#dragDepth -= 1;
        else if (event.type === 'drop') {
            this.#dragDepth = 0;
            this.#composer.addFiles([...event.dataTransfer.files]);
        }
        this.classList.toggle('dropping', this.#dragDepth > 0);
    }
}

customElements.define('parley-conversation', Conversation);
