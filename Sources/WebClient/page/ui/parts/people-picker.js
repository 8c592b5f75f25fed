// A search for people in which several can be chosen.

import { element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { showProblem } from './alert.js';
import { personSubject } from './avatar.js';
import { list, profile } from './controls.js';
import { icon } from './icon.js';

/** @import {ChatShape, Person} from '../../core/types.js' */

const pause = 200;

/** Builds the search.
 * @param {ChatShape} chat
 * @param {Set<string>} excluded ids of people who cannot be chosen; the user is never found
 * @param {(chosen: Person[]) => void} onchange
 */
export function peoplePicker(chat, excluded, onchange) {
    /** @type {Map<string, Person>} */
    const chosen = new Map();
    const peers = chat.inbox.value?.threads.map((thread) => thread.peer).filter((peer) => !!peer) ?? [];
    const suggested = allowed(peers).slice(0, 8);
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
    show(suggested);
    return element(
        'div',
        { class: 'picker' },
        element('div', { class: 'search-field' }, icon('search'), search),
        people,
        note,
    );

    /** @param {string} text what was in the field a moment ago */
    async function find(text) {
        if (text !== search.value) return;
        try {
            const found = text.trim() ? allowed(await chat.findPeople(text.trim())) : suggested;
            if (text !== search.value) return;
            show(found);
            note.textContent = found.length === 0 ? t('inbox.nobodyFound') : '';
        } catch (error) {
            showProblem(error);
        }
    }

    /** @param {Person[]} people */
    function allowed(people) {
        return people.filter(({ id }) => id !== chat.session.value?.user.id && !excluded.has(id));
    }

    /** @param {Person[]} found */
    function show(found) {
        const others = found.filter(({ id }) => !chosen.has(id));
        fill(people, ...[...chosen.values(), ...others].map(item));
    }

    /** @param {Person} person */
    function item(person) {
        const box = element('input', {
            type: 'checkbox',
            checked: chosen.has(person.id),
            onchange: () => {
                if (box.checked) chosen.set(person.id, person);
                else chosen.delete(person.id);
                onchange([...chosen.values()]);
            },
        });
        const facts = [person.username && `@${person.username}`];
        return element(
            'li',
            {},
            element('label', { class: 'choice' }, profile(personSubject(person), chat, facts), box),
        );
    }
}
