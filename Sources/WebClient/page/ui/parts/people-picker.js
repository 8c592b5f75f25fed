// A search for people in which several can be chosen.

import * as requests from '../../core/requests.js';
import { div, element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { showProblem } from './alert.js';
import { avatar, personSubject } from './avatar.js';
import { list, names } from './controls.js';
import { icon } from './icon.js';

/** @import {ChatShape, Person} from '../../core/types.js' */

const pause = 200;
const suggestedMax = 8;

/** Builds the search. Without a text it suggests people with whom the user has a direct conversation.
 * @param {ChatShape} chat
 * @param {Set<string>} excluded ids of people who cannot be chosen; the user is never found
 * @param {(chosen: Person[]) => void} onchange
 */
export function peoplePicker(chat, excluded, onchange) {
    /** @type {Map<string, Person>} */
    const chosen = new Map();
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
    });
    show(suggested());
    return div('picker', div('search-field', icon('search'), search), people, note);

    /** @param {string} text what was in the field a moment ago */
    async function find(text) {
        if (text !== search.value) return;
        try {
            const found = text.trim() ? await requests.findPeople(chat, text.trim()) : suggested();
            if (text === search.value) show(found);
        } catch (error) {
            showProblem(error);
        }
    }

    function suggested() {
        const peers = chat.inbox.value?.threads.map(({ peer }) => peer) ?? [];
        return peers.filter((peer) => !!peer).slice(0, suggestedMax);
    }

    /** @param {Person[]} found */
    function show(found) {
        const own = chat.session.value?.user.id ?? '';
        const others = found.filter(({ id }) => id !== own && !excluded.has(id) && !chosen.has(id));
        fill(people, ...[...chosen.values(), ...others].map(choice));
        note.textContent = search.value && others.length === 0 ? t('inbox.nobodyFound') : '';
    }

    /** @param {Person} person */
    function choice(person) {
        const onchange = () => change(person, box.checked);
        const box = element('input', { type: 'checkbox', checked: chosen.has(person.id), onchange });
        const parts = [avatar(personSubject(person), chat, 'small'), names(person.name, [handle(person)]), box];
        return element('li', {}, element('label', { class: 'choice' }, parts));
    }

    /**
     * @param {Person} person
     * @param {boolean} isChosen
     */
    function change(person, isChosen) {
        if (isChosen) chosen.set(person.id, person);
        else chosen.delete(person.id);
        onchange([...chosen.values()]);
    }
}

/** Returns the username as people write it, such as `@ann`.
 * @param {Person} person
 */
export function handle({ username }) {
    return username ? `@${username}` : null;
}
