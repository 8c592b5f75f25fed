// The list of conversations beside the open one: search, filters, and what begins a conversation.

import { Component, element } from '../dom.js';
import { t } from '../../language/index.js';
import { icon, iconButton } from '../parts/icon.js';
import { openSettings } from '../settings/settings.js';
import { openJoinRoom } from './join-room.js';
import { openNewConversation } from './new-conversation.js';
import { SearchResults } from './search-results.js';
import { ThreadList } from './thread-list.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */
/** @typedef {import('../../core/types.js').Thread} Thread */
/** @typedef {'all' | 'unread' | 'archived'} Filter */

/** @type {Filter[]} */
const filters = ['all', 'unread', 'archived'];

export class Inbox extends Component {
    /** Moves the focus to the text of the message that the user is writing. */
    onfocuscomposer = () => {};
    /** @type {Filter} */
    #filter = 'all';
    /** @type {string | null} */
    #openThreadID = null;
    #search;
    #results;
    #list;
    #filters = element(
        'div',
        { class: 'segments filters', role: 'group', 'aria-label': t('inbox.filter') },
        filters.map((filter) =>
            element(
                'button',
                { type: 'button', 'data-filter': filter, onclick: () => this.#setFilter(filter) },
                t(`inbox.${filter}`),
            )
        ),
    );

    /** @param {Chat} chat */
    constructor(chat) {
        super();
        this.chat = chat;
        this.#list = new ThreadList(chat);
        this.#results = new SearchResults(chat);
        this.#search = element('input', {
            class: 'input',
            type: 'search',
            'aria-label': t('inbox.search'),
            placeholder: t('inbox.search'),
            autocomplete: 'off',
            'aria-keyshortcuts': 'Control+K',
            oninput: () => this.#showResults(),
            onkeydown: (/** @type {KeyboardEvent} */ event) => this.#handleSearchKey(event),
        });
    }

    connectedCallback() {
        this.replaceChildren(element(
            'nav',
            { class: 'inbox', 'aria-label': t('inbox.conversations'), onkeydown: moveBetweenLinks },
            element(
                'header',
                { class: 'inbox-header' },
                element('p', { class: 'product' }, 'Parley'),
                iconButton('edit', t('inbox.newConversation'), () => openNewConversation(this.chat)),
                iconButton('room', t('inbox.joinRoom'), () => openJoinRoom(this.chat)),
                iconButton('settings', t('inbox.settings'), () => openSettings(this.chat)),
            ),
            element('div', { class: 'search-field' }, icon('search'), this.#search),
            this.#filters,
            element('div', { class: 'inbox-lists' }, this.#list.element, this.#results.element),
        ));
        this.#showResults();
        this.#setFilter(this.#filter);
        this.follow(this.chat.inbox, () => this.#showThreads());
        this.follow(this.chat.session, () => this.#showThreads());
        this.atEnd(() => this.#list.end());
    }

    /** @param {string | null} threadID */
    set openThreadID(threadID) {
        this.#openThreadID = threadID;
        this.#showThreads();
    }

    focusSearch() {
        this.#search.focus();
        this.#search.select();
    }

    /** @param {string} threadID */
    focusThread(threadID) {
        this.#list.focus(threadID);
    }

    /** @param {Filter} filter */
    #setFilter(filter) {
        this.#filter = filter;
        for (const button of this.#filters.children) {
            if (!(button instanceof HTMLElement)) continue;
            button.setAttribute('aria-pressed', String(button.dataset.filter === filter));
        }
        this.#showThreads();
    }

    #showThreads() {
        const inbox = this.chat.inbox.value;
        if (!inbox || !this.isConnected) return;
        const isShown = (/** @type {Thread} */ thread) =>
            this.#filter === 'archived' ? thread.me.archived : !thread.me.archived &&
                // The open one stays when reading it empties the filter.
                (this.#filter === 'all' || thread.unread_count > 0 || thread.id === this.#openThreadID);
        const threads = inbox.threads.filter(isShown);
        const pinned = threads.filter((thread) => thread.me.pinned);
        const others = threads.filter((thread) => !thread.me.pinned);
        this.#list.show([...pinned, ...others], this.#openThreadID, t(`inbox.empty.${this.#filter}`));
    }

    #showResults() {
        const query = this.#search.value.trim();
        this.#list.element.hidden = this.#filters.hidden = query !== '';
        this.#results.show(query);
    }

    /** @param {KeyboardEvent} event */
    #handleSearchKey(event) {
        if (event.isComposing) return;
        if (event.key === 'Escape' && this.#search.value !== '') {
            event.preventDefault();
            this.#clearSearch();
        } else if (event.key === 'Enter') {
            event.preventDefault();
            this.#results.openFirst(() => {
                this.#clearSearch();
                this.onfocuscomposer();
            });
        }
    }

    #clearSearch() {
        this.#search.value = '';
        this.#showResults();
    }
}

/** ArrowDown and ArrowUp move between the search field and the links below it.
 * @param {KeyboardEvent} event
 */
function moveBetweenLinks(event) {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const nav = /** @type {HTMLElement} */ (event.currentTarget);
    const stops = /** @type {HTMLElement[]} */ ([...nav.querySelectorAll('input[type=search], a')])
        .filter((stop) => stop.checkVisibility());
    const index = stops.findIndex((stop) => stop === document.activeElement);
    if (step === 0 || index < 0) return;
    event.preventDefault();
    stops[index + step]?.focus();
}

customElements.define('parley-inbox', Inbox);
