// The page's frame: signed out, one form; signed in, the inbox beside a conversation. On small screens one of the two.

import { attention } from '../../core/state/attention.js';
import { Component, div, element, fill, p } from '../dom.js';
import { t } from '../../language/index.js';
import { Inbox } from '../inbox/inbox.js';
import { attempt, button, later, loaded } from '../parts/action.js';
import { forgetProblems, hideConnectionProblem, showProblem } from '../parts/alert.js';
import { threadSubject } from '../parts/avatar.js';
import { icon } from '../parts/icon.js';
import { closeThread, currentRoute, followRoute, invitationCode } from './router.js';
import { forgetChoices } from './theme.js';

/** @import {ChatShape, Connection, Session} from '../../core/types.js' */

/** The element of a conversation, as far as the frame knows it.
 * @typedef {HTMLElement & {chat: ChatShape, threadID: string, messageID: string | null, focusComposer: () => void, searchHere: () => void}} Conversation
 */

export class App extends Component {
    #connection = element('p', { class: 'connection', role: 'status', 'aria-label': t('shell.connection') });
    #main = element('main', { class: 'pane', tabindex: -1 });
    /** @type {Inbox | null} */
    #inbox = null;
    /** @type {Conversation | null} */
    #conversation = null;
    #endThread = () => {};
    #hint = p('');
    /** How many messages wait for the user. */
    #count = 0;
    #threadTitle = '';
    /** @type {string | null | undefined} */
    #userID;

    /** @param {ChatShape} chat */
    constructor(chat) {
        super();
        this.chat = chat;
    }

    connectedCallback() {
        this.chat.onfailure = showProblem;
        this.follow(this.chat.connection, (connection) => this.#showConnection(connection));
        this.follow(this.chat.inbox, ({ threads }) => {
            this.#count = attention(threads);
            this.#hint.textContent = t(threads.length > 0 ? 'notice.chooseConversation' : 'notice.firstSteps');
            this.#showTitle();
        });
        this.follow(this.chat.service, () => this.#showTitle());
        this.chat.onunseen = async (messages) => (await import('./notifications.js')).notify(this.chat, messages);
        followRoute((route) => this.#showRoute(route));
        // After the route: the session, which may be known already, shows it.
        this.follow(this.chat.session, (session) => this.#showSession(session));
        later(() => import('./keys.js'), ({ followKeys }) => followKeys(this.chat));
        addEventListener('keydown', (event) => this.#handleKey(event));
        addEventListener('click', ({ target }) => target instanceof Element && this.#openCard(target));
    }

    /** @param {Connection} connection */
    #showConnection(connection) {
        this.#connection.textContent = t(`shell.${connection}`);
        this.dataset.connection = connection;
        if (connection === 'connected') hideConnectionProblem();
    }

    /** @param {Session | null} session */
    #showSession(session) {
        const userID = session?.user.id ?? null;
        if (userID === this.#userID) return;
        const hasSignedOut = !!this.#userID && userID === null;
        this.#userID = userID;
        forgetProblems();
        this.#closeConversation();
        for (const dialog of document.querySelectorAll('dialog')) dialog.close();
        if (hasSignedOut) {
            forgetChoices();
            closeThread();
        }
        if (userID === null) {
            this.#inbox = null;
            this.#count = 0;
            fill(this, this.#connection);
            attempt(() => this.#showSignedOut());
            this.#showTitle();
        } else {
            this.#inbox = new Inbox(this.chat);
            fill(this, this.#inbox, this.#main, this.#connection);
            this.#showRoute(currentRoute());
        }
    }

    async #showSignedOut() {
        const { signedOut } = await loaded(import('./signed-out.js'));
        if (this.#userID !== null) return;
        fill(this, signedOut(this.chat), this.#connection);
        this.querySelector('input')?.focus();
    }

    /** @param {import('./router.js').Route} route */
    #showRoute({ threadID, messageID }) {
        if (!this.#inbox) {
            // A link with an invitation, opened where the sign-in page is shown.
            if (this.#userID === null && invitationCode()) attempt(() => this.#showSignedOut());
            return;
        }
        const opened = this.#conversation?.threadID ?? null;
        this.dataset.pane = threadID ? 'conversation' : 'inbox';
        this.#inbox.showThreads();
        if (this.#conversation && threadID === opened) {
            this.#conversation.messageID = messageID;
            return;
        }
        this.#closeConversation();
        if (threadID) this.#openConversation(threadID, messageID);
        else {
            fill(this.#main, this.#nothing());
            this.#showTitle();
        }
        // On small screens each pane replaces the other, and the focus must not stay in the hidden one.
        if (document.activeElement === document.body || document.activeElement?.checkVisibility() === false) {
            if (threadID) this.#main.focus();
            else if (opened) this.#inbox.focusThread(opened);
        }
    }

    /**
     * @param {string} threadID
     * @param {string | null} messageID
     */
    #openConversation(threadID, messageID) {
        const made = /** @type {Conversation} */ (document.createElement('parley-conversation'));
        this.#conversation = Object.assign(made, { chat: this.chat, threadID, messageID });
        fill(this.#main, made);
        let isKnown = false;
        this.#endThread = this.chat.thread(threadID).subscribe((thread) => {
            // A thread that the user has just left, or an address that they may not open.
            if (thread === null && isKnown && currentRoute().threadID === threadID) queueMicrotask(closeThread);
            if (thread === null && !isKnown) fill(this.#main, noThread());
            else if (!made.isConnected) fill(this.#main, made);
            isKnown = thread !== null;
            this.#threadTitle = thread ? threadSubject(thread).name : '';
            this.#showTitle();
        });
    }

    #closeConversation() {
        this.#endThread();
        this.#endThread = () => {};
        this.#conversation?.remove();
        this.#conversation = null;
        this.#threadTitle = '';
    }

    /** What is beside the inbox while no conversation is open. */
    #nothing() {
        return div(
            'nothing-open',
            icon('people'),
            this.#hint,
        );
    }

    #showTitle() {
        const { name } = this.chat.service.value ?? { name: 'Parley' };
        const title = this.#threadTitle;
        // A thread's title cannot pretend to be a count.
        const parts = title.startsWith('(') && this.#count === 0 ? [name, title] : [title, name];
        const count = this.#count > 0 ? `(${this.#count}) ` : '';
        document.title = count + parts.filter((part) => part !== '').join(' – ');
        const icon = new URL(this.#count > 0 ? '../../icon-unread.svg' : '../../icon.svg', import.meta.url).href;
        const link = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel="icon"]'));
        if (link.href !== icon) link.href = icon;
        document.querySelector('meta[name="application-name"]')?.setAttribute('content', name);
        document.querySelector('meta[name="apple-mobile-web-app-title"]')?.setAttribute('content', name);
    }

    /** Opens the card of the person whom an element names. @param {Element} target */
    #openCard(target) {
        const named = target.closest('[data-user]');
        if (!(named instanceof HTMLElement)) return;
        const id = named.dataset.user ?? '';
        attempt(async () => (await loaded(import('../people/card.js'))).openCard(this.chat, id, named));
    }

    /** @param {KeyboardEvent} event */
    #handleKey(event) {
        const isSearch = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k';
        if (!isSearch || !this.#inbox || document.querySelector('dialog:modal')) return;
        event.preventDefault();
        if (!this.#inbox.checkVisibility()) closeThread();
        this.#inbox.focusSearch();
    }
}

/** What is shown for an address that the user may not open. */
function noThread() {
    return div(
        'nothing-open',
        icon('lock'),
        element('h1', {}, t('notice.noThread')),
        p('', t('notice.noThreadText')),
        button(t('shell.back'), closeThread),
    );
}

customElements.define('parley-app', App);
