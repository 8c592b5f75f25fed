// What a search finds: conversations by title at once, then messages from the server.

import * as requests from '../../core/requests.js';
import { isEmpty, Search } from '../../core/search.js';
import { arrange, div, element, words } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt, button } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { avatar, personSubject, threadSubject } from '../parts/avatar.js';
import { summary } from '../parts/summary.js';
import { dayName, shortTime, timeElement } from '../parts/time.js';
import { handle } from '../parts/people-picker.js';
import { excerptNodes, operatorsHint, queryOf } from '../search/found.js';
import { markWords } from '../search/marks.js';
import { goTo, threadAddress, writeIn } from '../shell/router.js';
import { matchesWords, normal } from '../../text/match.js';

/** @import {ChatShape, Message, Person, Thread} from '../../core/types.js' */

const pause = 250;
const titlesMax = 8;
const peopleMax = 5;
const step = 30;

/** Builds the results, hidden until the first call of `show`.
 * @param {ChatShape} chat
 */
export function searchResults(chat) {
    let query = '';
    /** Runs when the answer is there: Enter may come before it. */
    let afterAnswer = () => {};
    const items = element('ul', { class: 'threads', role: 'list', 'aria-label': t('inbox.searchResults') });
    const note = element('p', { class: 'empty', role: 'status' });
    const more = button(t('conversation.more'), () => continueSearch(), 'small', { hidden: true });
    const hint = element('p', { class: 'empty hint' }, ...operatorsHint(false));
    const place = div('found-messages', items, note, more, hint);
    /** @type {Search | null} */
    let search = null;
    let parsed = queryOf('');
    return { element: place, show, openFirst };

    /** Searches for `text`; an empty one hides the results.
     * @param {string} text
     */
    function show(text) {
        query = text;
        afterAnswer = () => {};
        place.hidden = text === '';
        if (text === '') return;
        more.hidden = true;
        search = null;
        arrange(items, findThreads());
        note.textContent = t('inbox.searching');
        setTimeout(searchMessages, pause, text);
    }

    /** Opens the first result, if need be once it has arrived, then calls `after`.
     * @param {() => void} after
     */
    function openFirst(after) {
        const first = items.querySelector('a, button');
        afterAnswer = () => openFirst(after);
        if (first instanceof HTMLAnchorElement) goTo(first.hash);
        else if (first instanceof HTMLElement) first.click();
        if (first) after();
    }

    /** @param {string} text */
    async function searchMessages(text) {
        if (text !== query) return;
        parsed = queryOf(text);
        const inside = parsed.in === null ? null : threadNamed(parsed.in);
        const current = search = new Search(chat, parsed, inside?.id ?? null);
        const isImpossible = isEmpty(parsed) || current.needsWords || (parsed.in !== null && !inside);
        if (isImpossible) search = null;
        try {
            const [people, found] = await Promise.all([findPeople(text), isImpossible ? [] : current.next(step)]);
            if (text !== query) return;
            // The inbox may have been loaded since.
            arrange(items, [...findThreads(), ...people.map(personButton), ...found.map(messageLink)]);
            describe(isImpossible);
            if (items.firstChild) afterAnswer();
        } catch (error) {
            if (text === query) showProblem(error);
        }
    }

    async function continueSearch() {
        const current = search;
        const found = await current?.next(step) ?? [];
        if (current !== search) return;
        items.append(...found.map(messageLink));
        describe(false);
    }

    /** Says what is missing, or how far back was searched. @param {boolean} isImpossible */
    function describe(isImpossible) {
        const day = search && !search.isAtEnd && search.until && dayName(search.until);
        more.hidden = !search || search.isAtEnd;
        if (search?.isOffline) note.textContent = t('notice.searchedStored');
        else if (parsed.unknown.length > 0) note.textContent = t('search.unknown', { part: parsed.unknown.join(' ') });
        else if (day) note.textContent = t('search.until', { day });
        else if (items.firstChild) note.textContent = '';
        else note.textContent = t(isImpossible && !parsed.words ? 'search.needsWords' : 'inbox.nothingFound');
    }

    /** The conversation whose title begins so. @param {string} title */
    function threadNamed(title) {
        const threads = (chat.inbox.value?.threads ?? []).filter(({ me }) => me.status === 'joined');
        return threads.find((thread) => matchesWords(threadSubject(thread).name, title)) ?? null;
    }

    function findThreads() {
        const isMatch = (/** @type {Thread} */ thread) =>
            normal(query) !== '' && matchesWords(threadSubject(thread).name, query);
        return (chat.inbox.value?.threads ?? []).filter(isMatch).slice(0, titlesMax).map(threadLink);
    }

    /** People of the directory with whom the user has no direct conversation yet. @param {string} text */
    async function findPeople(text) {
        const peers = new Set((chat.inbox.value?.threads ?? []).map(({ peer }) => peer?.id));
        const own = chat.session.value?.user.id;
        const people = await requests.findPeople(chat, text).catch(() => []);
        return people.filter(({ id }) => id !== own && !peers.has(id)).slice(0, peopleMax);
    }

    /** @param {Person} person */
    function personButton(person) {
        const onclick = () =>
            attempt(async () => {
                const { id } = await requests.createThread(chat, { kind: 'direct', members: [person.id] });
                writeIn(id);
            }, made);
        const made = element(
            'button',
            { type: 'button', class: 'thread-link', onclick },
            avatar(personSubject(person), chat),
            words('thread-title', person.name),
            ' ',
            words('thread-line', [handle(person), t('inbox.startDirect')].filter((part) => part).join(' · ')),
        );
        return element('li', { class: 'thread' }, made);
    }

    /** @param {Thread} thread */
    function threadLink(thread) {
        const { id, kind, member_count: count } = thread;
        const subject = threadSubject(thread);
        return link(threadAddress(id), [
            avatar(subject, chat),
            words('thread-title', subject.name),
            ' ',
            words('thread-line', kind === 'direct' ? t('inbox.direct') : t(`inbox.${kind}`, { count })),
        ]);
    }

    /** @param {import('../../core/search.js').Found} found */
    function messageLink({ message, excerpt: text }) {
        const { sender, thread_id: threadID, timestamp: at } = message;
        const thread = chat.inbox.value?.threads.find(({ id }) => id === threadID);
        const name = sender?.name ?? '';
        const subject = thread ? threadSubject(thread) : { id: threadID, name };
        const isOwn = sender?.id === chat.session.value?.user.id;
        const nodes = text === null ? [summary(message, chat.session.value?.user.id)] : excerptNodes(text);
        const from = thread?.kind === 'direct' ? '' : t('inbox.from', { name, text: '' });
        return link(threadAddress(threadID, message.id), [
            avatar(subject, chat),
            words('thread-title', subject.name),
            ' ',
            timeElement(at, shortTime(at)),
            ' ',
            words('thread-line found', isOwn ? t('inbox.own', { text: '' }) : from, ...nodes),
        ]);
    }

    /**
     * @param {string} href
     * @param {import('../dom.js').Leaf[]} content
     */
    function link(href, content) {
        const onclick = () => href.includes('/m/') && setTimeout(markWords, 0, parsed.words);
        return element('li', { class: 'thread' }, element('a', { class: 'thread-link', href, onclick }, content));
    }
}
