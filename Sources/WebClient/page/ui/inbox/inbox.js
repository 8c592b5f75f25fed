// The list of conversations beside the open one: search, filters, and what begins a conversation.

import { attentionOf } from '../../core/state/attention.js';
import { Component, div, element, fill, p, words } from '../dom.js';
import { formatNumber, t } from '../../language/index.js';
import { attempt, button, iconButton, loaded } from '../parts/action.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { icon } from '../parts/icon.js';
import { currentRoute, focusComposer } from '../shell/router.js';
import { read, write } from '../shell/theme.js';
import { threadList } from './thread-list.js';

/** @import {ChatShape, Thread} from '../../core/types.js' */

const filters = ['all', 'unread', 'archived'];
/** What the list looks like on this device: words in one entry of the browser's store. */
const looksKey = 'parley.list';
const settings = () => loaded(import('../settings/settings.js'));
const start = () => loaded(import('./start.js'));
const rooms = () => loaded(import('./rooms.js'));

export class Inbox extends Component {
    #filter = 'all';
    #search = element('input', {
        class: 'input',
        type: 'search',
        'aria-label': t('inbox.search'),
        placeholder: t('inbox.search'),
        'aria-keyshortcuts': 'Control+K',
        autocomplete: 'off',
        oninput: () => this.#showResults(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.#handleSearchKey(event),
    });
    #filters = filters.map((filter) =>
        element('button', { type: 'button', onclick: () => this.#setFilter(filter) }, t(`inbox.${filter}`))
    );
    #product = p('product');
    #archivedCount = words('badge', '');
    #filterGroup = element('div', { class: 'segments', role: 'group', 'aria-label': t('inbox.filter') }, this.#filters);
    /** They are loaded once a conversation has a label. @type {ReturnType<typeof import('./folders.js').folderList> | null} */
    #folders = null;
    /** @type {'none' | 'coming' | 'done'} */
    #foldersState = 'none';
    #looks = new Set(read(looksKey).split(' '));
    /** @type {HTMLButtonElement} */
    #options = iconButton('list', t('inbox.listOptions'), async () => {
        (await loaded(import('./list-options.js'))).openListOptions(this.chat, this, this.#options);
    }, { 'aria-haspopup': 'menu' });
    #list;
    #lists;
    #own = iconButton(
        'settings',
        t('inbox.settings'),
        async () => (await settings()).openSettings(this.chat),
    );
    /** What a user without conversations can do. */
    #begin = div(
        'begin',
        button(t('notice.startFirst'), async () => (await start()).openNewConversation(this.chat), 'primary'),
        button(t('notice.joinFirst'), async () => (await rooms()).openRooms(this.chat)),
    );
    /** @type {ReturnType<typeof import('./search-results.js').searchResults> | null} */
    #results = null;

    /** @param {ChatShape} chat */
    constructor(chat) {
        super();
        this.chat = chat;
        this.#list = threadList(chat);
        this.#lists = div('inbox-lists', this.#list.element, this.#begin);
    }

    connectedCallback() {
        fill(
            this,
            element(
                'nav',
                { class: 'inbox', 'aria-label': t('inbox.conversations'), onkeydown: moveBetweenLinks },
                element(
                    'header',
                    { class: 'inbox-header' },
                    this.#product,
                    iconButton(
                        'edit',
                        t('inbox.newConversation'),
                        async () => (await start()).openNewConversation(this.chat),
                    ),
                    iconButton('room', t('inbox.joinRoom'), async () => (await rooms()).openRooms(this.chat)),
                    this.#options,
                    this.#own,
                ),
                div('search-field', icon('search'), this.#search),
                this.#filterGroup,
                this.#lists,
            ),
        );
        this.#filters[filters.indexOf('archived')].append(' ', this.#archivedCount);
        this.classList.toggle('compact', this.isLook('compact'));
        this.#setFilter(this.#filter);
        let isFirst = true;
        this.follow(this.chat.inbox, () => {
            // A search may have begun before the conversations were known.
            if (isFirst) this.#showResults();
            else this.showThreads();
            isFirst = false;
        });
        // A live value is kept current while somebody follows it; the settings read it once.
        this.follow(this.chat.service, ({ name }) => this.#product.textContent = name);
        this.follow(this.chat.me, (me) => this.#showOwn(me));
        this.atEnd(this.#list.end);
    }

    /** Shows the conversations, pinned ones first, and marks the open one. */
    showThreads() {
        const { threadID } = currentRoute();
        const isArchive = this.#filter === 'archived';
        const all = this.chat.inbox.value?.threads ?? [];
        const isSearching = this.#search.value.trim() !== '';
        this.#folders?.update(all, isSearching);
        if (this.#foldersState === 'none' && all.some(hasLabel)) void this.#loadFolders();
        // They come above the list, which would then move under the pointer.
        if (this.#foldersState === 'coming') return;
        const threads = all.filter(({ id, me, unread_count: unread }) =>
            this.#filter === 'unread'
                // The open one stays when reading it empties the filter.
                ? unread > 0 || me.status === 'invited' || id === threadID
                : me.archived === isArchive
        ).filter((thread) => this.#folders?.has(thread) ?? true);
        const archived = all.filter(({ me }) => me.archived).reduce((sum, thread) => sum + attentionOf(thread), 0);
        this.#archivedCount.hidden = archived === 0;
        this.#archivedCount.textContent = archived > 0 ? formatNumber(archived) : '';
        this.#filters[filters.indexOf('archived')].title = archived > 0
            ? t('inbox.unreadCount', { count: archived })
            : '';
        const isGrouped = this.isLook('grouped');
        const order = (/** @type {Thread} */ thread) =>
            thread.me.pinned ? 0 : isGrouped ? sections.indexOf(sectionOf(thread)) : 1;
        threads.sort((one, other) => order(one) - order(other));
        const isLoaded = this.chat.inbox.value !== undefined;
        const emptyText = isLoaded ? t(this.#folders?.isOpen() ? 'labels.empty' : `inbox.empty.${this.#filter}`) : '';
        this.#list.show(threads, threadID, emptyText, isGrouped ? sectionOf : null);
        this.#begin.hidden = !isLoaded || all.length > 0 || isSearching;
    }

    /** The button "Settings" shows who is signed in. @param {import('../../core/types.js').Person} me */
    #showOwn(me) {
        fill(this.#own, avatar(personSubject(me), this.chat, 'small'));
        this.#own.title = t('notice.settingsOf', { name: me.name });
    }

    /** Whether the list looks so: `compact` or `grouped`. @param {string} look */
    isLook(look) {
        return this.#looks.has(look);
    }

    /** Changes what the list looks like on this device. @param {string} look */
    toggleLook(look) {
        if (!this.#looks.delete(look)) this.#looks.add(look);
        write(looksKey, [...this.#looks].join(' ').trim());
        this.classList.toggle('compact', this.isLook('compact'));
        this.showThreads();
    }

    focusSearch() {
        this.#search.focus();
        this.#search.select();
    }

    /** @param {string} threadID */
    focusThread(threadID) {
        this.#list.link(threadID)?.focus();
    }

    /** @param {string} filter */
    #setFilter(filter) {
        this.#filter = filter;
        this.#filters.forEach((button, index) => button.ariaPressed = String(filters[index] === filter));
        this.showThreads();
    }

    #showResults() {
        const query = this.#search.value.trim();
        this.#list.element.hidden = this.#filterGroup.hidden = query !== '';
        this.showThreads();
        this.#results?.show(query);
        if (query && !this.#results) void this.#loadResults();
    }

    async #loadFolders() {
        this.#foldersState = 'coming';
        try {
            const { folderList } = await import('./folders.js');
            this.#folders = folderList(() => this.showThreads());
            this.#filterGroup.after(this.#folders.element);
        } catch (error) {
            console.warn('a part was not loaded', error);
        }
        this.#foldersState = 'done';
        this.showThreads();
    }

    /** The results are loaded when the user first searches. @returns {Promise<boolean>} */
    #loadResults() {
        return attempt(async () => {
            const { searchResults } = await loaded(import('./search-results.js'));
            if (this.#results) return;
            this.#results = searchResults(this.chat);
            this.#lists.append(this.#results.element);
            this.#showResults();
        });
    }

    /** @param {KeyboardEvent} event */
    async #handleSearchKey(event) {
        if (event.isComposing) return;
        const clear = () => {
            this.#search.value = '';
            this.#showResults();
        };
        if (event.key === 'Escape') clear();
        if (event.key !== 'Enter') return;
        if (await this.#loadResults()) {
            this.#results?.openFirst(() => {
                clear();
                focusComposer();
            });
        }
    }
}

const sections = ['inbox.section.pinned', 'inbox.section.room', 'inbox.section.group', 'inbox.section.direct'];

/** @param {Thread} thread */
function hasLabel({ labels = [], me }) {
    return labels.length > 0 || (me.labels ?? []).length > 0;
}

/** Returns the section of a thread, as the key of its heading. @param {Thread} thread */
function sectionOf({ me, kind }) {
    return me.pinned ? sections[0] : `inbox.section.${kind}`;
}

/** ArrowDown and ArrowUp move between the search field and the links below it.
 * @param {KeyboardEvent} event
 */
function moveBetweenLinks(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const nav = /** @type {HTMLElement} */ (event.currentTarget);
    const stops = [.../** @type {NodeListOf<HTMLElement>} */ (nav.querySelectorAll('input, .thread-link'))];
    const shown = stops.filter((stop) => stop.checkVisibility());
    const index = shown.findIndex((stop) => stop === document.activeElement);
    if (!step || index < 0) return;
    event.preventDefault();
    shown[index + step]?.focus();
}

customElements.define('parley-inbox', Inbox);
