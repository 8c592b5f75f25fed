// The page's frame: signed out, one form; signed in, the inbox beside a conversation. On small screens one of the two.

import { Component, element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { Inbox } from '../inbox/inbox.js';
import { hideConnectionProblem } from '../parts/alert.js';
import { icon } from '../parts/icon.js';
import { closeThread, currentRoute, followRoute } from './router.js';
import { SignedOut } from './signed-out.js';
import { setTheme } from './theme.js';

/** The element of a conversation, as far as the frame knows it.
 * @typedef {HTMLElement & {chat: Chat, threadID: string, messageID: string | null, focusComposer: () => void}} Conversation
 */
/** @typedef {import('../../core/types.js').ChatShape} Chat */

export class App extends Component {
    #connection = element('p', { class: 'connection', role: 'status', 'aria-label': t('shell.connection') });
    /** @type {Inbox | null} */
    #inbox = null;
    #main = element('main', { class: 'pane', tabindex: -1 });
    /** @type {Conversation | null} */
    #conversation = null;
    #endThread = () => {};
    #unreadTotal = 0;
    #threadTitle = '';
    /** @type {string | null | undefined} */
    #userID;

    /** @param {Chat} chat */
    constructor(chat) {
        super();
        this.chat = chat;
    }

    connectedCallback() {
        this.follow(this.chat.connection, (connection) => this.#showConnection(connection));
        this.follow(this.chat.session, (session) => this.#showSession(session));
        this.follow(this.chat.inbox, ({ unreadTotal }) => {
            this.#unreadTotal = unreadTotal;
            this.#showTitle();
        });
        this.atEnd(followRoute((route) => this.#showRoute(route)));
        const onkeydown = (/** @type {KeyboardEvent} */ event) => this.#handleKey(event);
        addEventListener('keydown', onkeydown);
        this.atEnd(() => removeEventListener('keydown', onkeydown));
    }

    /** @param {import('../../core/types.js').Connection} connection */
    #showConnection(connection) {
        this.#connection.textContent = t(`shell.${connection}`);
        this.dataset.connection = connection;
        if (connection === 'connected') hideConnectionProblem();
    }

    /** @param {import('../../core/types.js').Session | null} session */
    #showSession(session) {
        const userID = session?.user.id ?? null;
        if (userID === this.#userID) return;
        const wasSignedIn = !!this.#userID;
        this.#userID = userID;
        this.#closeConversation();
        for (const dialog of document.querySelectorAll('dialog')) dialog.close();
        if (userID === null) {
            this.#inbox = null;
            this.#unreadTotal = 0;
            if (wasSignedIn) {
                setTheme('system');
                closeThread();
            }
            fill(this, new SignedOut(this.chat), this.#connection);
            this.#showTitle();
        } else {
            this.#inbox = new Inbox(this.chat);
            this.#inbox.onfocuscomposer = () => this.#conversation?.focusComposer();
            fill(this, this.#inbox, this.#main, this.#connection);
            this.#showRoute(currentRoute());
        }
    }

    /** @param {import('./router.js').Route} route */
    #showRoute({ threadID, messageID }) {
        if (!this.#inbox) return;
        const wasOpen = this.#conversation?.threadID ?? null;
        this.dataset.pane = threadID ? 'conversation' : 'inbox';
        this.#inbox.openThreadID = threadID;
        if (threadID && threadID === wasOpen && this.#conversation) {
            this.#conversation.messageID = messageID;
            return;
        }
        this.#closeConversation();
        if (threadID) this.#openConversation(threadID, messageID);
        else this.#showNothing();
        // What had the focus is hidden now: on small screens each pane replaces the other.
        if (document.activeElement === document.body || document.activeElement?.checkVisibility() === false) {
            if (threadID) this.#main.focus();
            else if (wasOpen) this.#inbox.focusThread(wasOpen);
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
        this.#endThread = this.chat.thread(threadID).subscribe((thread) => {
            // Only an address that this page cannot open, or a thread that the user has just left.
            if (thread === null && currentRoute().threadID === threadID) queueMicrotask(closeThread);
            this.#threadTitle = thread?.title ?? thread?.peer?.name ?? '';
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

    #showNothing() {
        fill(
            this.#main,
            element('div', { class: 'nothing-open' }, icon('people'), element('p', {}, t('shell.nothingOpen'))),
        );
        this.#showTitle();
    }

    #showTitle() {
        const count = this.#unreadTotal > 0 ? `(${this.#unreadTotal}) ` : '';
        // The title of a thread stands behind, so that it cannot pretend to be a count.
        document.title = `${count}Parley${this.#threadTitle ? ` · ${this.#threadTitle}` : ''}`;
    }

    /** @param {KeyboardEvent} event */
    #handleKey(event) {
        const isSearch = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k';
        if (!isSearch || !this.#inbox || document.querySelector('dialog:modal')) return;
        event.preventDefault();
        if (!this.#inbox.checkVisibility()) {
            this.dataset.pane = 'inbox';
            closeThread();
        }
        this.#inbox.focusSearch();
    }
}

customElements.define('parley-app', App);
