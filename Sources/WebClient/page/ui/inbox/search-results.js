// What a search finds: conversations by title at once, then messages from the server.

import * as requests from '../../core/requests.js';
import { arrange, div, element, words } from '../dom.js';
import { t } from '../../language/index.js';
import { showProblem } from '../parts/alert.js';
import { avatar, threadSubject } from '../parts/avatar.js';
import { matchesWords, normal } from '../../text/match.js';
import { shortTime, timeElement } from '../parts/time.js';
import { goTo, threadAddress } from '../shell/router.js';

/** @import {ChatShape, Message, Thread} from '../../core/types.js' */

const pause = 250;
const titlesMax = 8;
/** @type {Record<string, string>} */
const references = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** Builds the results, hidden until the first call of `show`.
 * @param {ChatShape} chat
 */
export function searchResults(chat) {
    let query = '';
    /** Runs when the answer is there: Enter may come before it. */
    let afterAnswer = () => {};
    const items = element('ul', { class: 'threads', role: 'list', 'aria-label': t('inbox.searchResults') });
    const note = element('p', { class: 'empty', role: 'status' });
    const place = div('', items, note);
    return { element: place, show, openFirst };

    /** Searches for `text`; an empty one hides the results.
     * @param {string} text
     */
    function show(text) {
        query = text;
        afterAnswer = () => {};
        place.hidden = text === '';
        if (text === '') return;
        arrange(items, findThreads());
        note.textContent = t('inbox.searching');
        setTimeout(searchMessages, pause, text);
    }

    /** Opens the first result, if need be once it has arrived, then calls `after`.
     * @param {() => void} after
     */
    function openFirst(after) {
        const first = items.querySelector('a');
        afterAnswer = () => openFirst(after);
        if (!first) return;
        goTo(first.hash);
        after();
    }

    /** @param {string} text */
    async function searchMessages(text) {
        if (text !== query) return;
        try {
            const found = await requests.search(chat, text);
            if (text !== query) return;
            // The inbox may have been loaded since.
            arrange(items, [...findThreads(), ...found.map(messageLink)]);
            const isStored = chat.connection.value === 'offline';
            note.textContent = isStored ? t('notice.searchedStored') : items.firstChild ? '' : t('inbox.nothingFound');
            if (items.firstChild) afterAnswer();
        } catch (error) {
            if (text === query) showProblem(error);
        }
    }

    function findThreads() {
        const isMatch = (/** @type {Thread} */ thread) =>
            normal(query) !== '' && matchesWords(threadSubject(thread).name, query);
        return (chat.inbox.value?.threads ?? []).filter(isMatch).slice(0, titlesMax).map(threadLink);
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

    /** @param {{message: Message, excerpt: string}} found */
    function messageLink({ message, excerpt: text }) {
        const { sender, thread_id: threadID, timestamp: at } = message;
        const thread = chat.inbox.value?.threads.find(({ id }) => id === threadID);
        const name = sender?.name ?? '';
        const subject = thread ? threadSubject(thread) : { id: threadID, name };
        const isOwn = sender?.id === chat.session.value?.user.id;
        const from = thread?.kind === 'direct' ? '' : t('inbox.from', { name, text: '' });
        return link(threadAddress(threadID, message.id), [
            avatar(subject, chat),
            words('thread-title', subject.name),
            ' ',
            timeElement(at, shortTime(at)),
            ' ',
            words('thread-line found', isOwn ? t('inbox.own', { text: '' }) : from, ...excerpt(text)),
        ]);
    }

    /**
     * @param {string} href
     * @param {import('../dom.js').Leaf[]} content
     */
    function link(href, content) {
        return element('li', { class: 'thread' }, element('a', { class: 'thread-link', href }, content));
    }
}

/** Returns the nodes of a result's excerpt. The server marks the matching words by `<mark>` and escapes the rest.
 * @param {string} text
 */
function excerpt(text) {
    // Every second part was between the two tags.
    return text.split(/<\/?mark>/).map((part, index) => {
        const plain = part.replace(/&(?:amp|lt|gt|quot|#39);/g, (reference) => references[reference]);
        return index % 2 === 0 ? plain : element('mark', {}, plain);
    });
}
