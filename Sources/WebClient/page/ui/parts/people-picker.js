// A search for people in which several can be chosen.

import * as requests from '../../core/requests.js';
import { arrange, div, element } from '../dom.js';
import { t } from '../../language/index.js';
import { showProblem } from './alert.js';
import { avatar, personSubject } from './avatar.js';
import { list, names } from './controls.js';
import { icon } from './icon.js';

/** @import {ChatShape, Person} from '../../core/types.js' */

const pause = 200;
const suggestedMax = 12;
const threadsAsked = 5;

/** Builds the search. Without a text it suggests people whom the user knows: from direct conversations, then from groups
 * and rooms.
 * @param {ChatShape} chat
 * @param {Set<string>} excluded ids of people who cannot be chosen; the user is never found
 * @param {(chosen: Person[]) => void} onchange
 */
export function peoplePicker(chat, excluded, onchange) {
    /** @type {Map<string, Person>} */
    const chosen = new Map();
    /** By person, so that a list that changes keeps the focus. @type {Map<string, HTMLElement>} */
    const choices = new Map();
    /** @type {Person[]} */
    let known = knownPeople(chat);
    const note = element('p', { class: 'hint', role: 'status' });
    const people = list(t('inbox.people'));
    const search = element('input', {
        class: 'input',
        type: 'search',
        'aria-label': t('inbox.findPeople'),
        placeholder: t('inbox.findPeople'),
        autocomplete: 'off',
        autofocus: true,
        oninput: () => setTimeout(find, pause, search.value),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key !== 'Enter' || event.isComposing || !search.value.trim()) return;
            event.preventDefault();
            void chooseFirst(search.value);
        },
    });
    show(known);
    membersOfThreads(chat).then((members) => {
        known = [...new Map([...known, ...members].map((person) => [person.id, person])).values()];
        if (!search.value.trim()) show(known);
    }, () => {});
    return div('picker', div('search-field', icon('search'), search), people, note);

    /** @param {string} text what was in the field a moment ago */
    async function find(text) {
        if (text !== search.value) return;
        try {
            const found = text.trim() ? await requests.findPeople(chat, text.trim()) : known;
            if (text === search.value) show(found);
        } catch (error) {
            showProblem(error);
        }
    }

    /** Enter chooses the first person who is found. @param {string} text */
    async function chooseFirst(text) {
        await find(text);
        const box = [...people.querySelectorAll('input')].find((each) => !each.checked);
        if (text === search.value) box?.click();
    }

    /** @param {Person[]} found */
    function show(found) {
        const others = found.filter(({ id }) => isOther(id) && !chosen.has(id));
        const shown = search.value.trim() ? others : others.slice(0, suggestedMax);
        arrange(people, [...chosen.values(), ...shown].map(choice));
        note.textContent = search.value && others.length === 0 ? t('inbox.nobodyFound') : '';
    }

    /** @param {string} id */
    function isOther(id) {
        return id !== chat.session.value?.user.id && !excluded.has(id);
    }

    /** @param {Person} person */
    function choice(person) {
        const made = choices.get(person.id);
        if (made) return made;
        const onchange = () => change(person, box.checked);
        const box = element('input', { type: 'checkbox', onchange });
        const parts = [avatar(personSubject(person), chat, 'small'), names(person.name, [handle(person)]), box];
        const item = element('li', {}, element('label', { class: 'choice' }, parts));
        choices.set(person.id, item);
        return item;
    }

    /** The text is done once somebody was chosen by it.
     * @param {Person} person
     * @param {boolean} isChosen
     */
    function change(person, isChosen) {
        if (isChosen) chosen.set(person.id, person);
        else chosen.delete(person.id);
        if (isChosen && search.value) {
            search.value = '';
            show(known);
            search.focus();
        }
        onchange([...chosen.values()]);
    }
}

/** The people of direct conversations.
 * @param {ChatShape} chat @returns {Person[]} */
function knownPeople(chat) {
    return (chat.inbox.value?.threads ?? []).flatMap(({ peer }) => peer ?? []);
}

/** The members of the groups and rooms that were active last.
 * @param {ChatShape} chat @returns {Promise<Person[]>} */
async function membersOfThreads(chat) {
    const threads = (chat.inbox.value?.threads ?? []).filter(({ kind, me }) =>
        kind !== 'direct' && me.status === 'joined'
    );
    const pages = await Promise.all(
        threads.slice(0, threadsAsked).map(({ id }) => chat.http.get(`/v1/threads/${id}/members`, { limit: 20 })),
    );
    return pages.flatMap(({ members }) => members.map((/** @type {{user: Person}} */ { user }) => user));
}

/** Returns the username as people write it, such as `@ann`.
 * @param {Person} person
 */
export function handle({ username }) {
    return username ? `@${username}` : null;
}
