// A search for people in which several can be chosen.

import { element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { showProblem } from './alert.js';
import { avatar, personSubject } from './avatar.js';
import { icon } from './icon.js';

/** @typedef {import('../../core/types.js').Person} Person */

const pause = 200;

export class PeoplePicker {
    #chat;
    #excluded;
    #onchange;
    /** @type {Map<string, Person>} */
    #chosen = new Map();
    /** @type {Person[]} */
    #found;
    #suggested;
    #note = element('p', { class: 'hint', role: 'status' });
    #list = element('ul', { class: 'people', role: 'list', 'aria-label': t('inbox.people') });
    #search = element('input', {
        class: 'input',
        type: 'search',
        'aria-label': t('inbox.findPeople'),
        placeholder: t('inbox.findPeople'),
        autocomplete: 'off',
        autofocus: true,
        oninput: () => this.#searchSoon(),
    });
    element = element(
        'div',
        { class: 'picker' },
        element('div', { class: 'search-field' }, icon('search'), this.#search),
        this.#list,
        this.#note,
    );
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;

    /**
     * @param {import('../../core/types.js').ChatShape} chat
     * @param {Set<string>} excluded ids of people who cannot be chosen; the user is never found
     * @param {(chosen: Person[]) => void} onchange
     */
    constructor(chat, excluded, onchange) {
        this.#chat = chat;
        this.#excluded = excluded;
        this.#onchange = onchange;
        const peers = chat.inbox.value?.threads.map((thread) => thread.peer).filter((peer) => !!peer) ?? [];
        this.#suggested = this.#found = this.#allowed(peers).slice(0, 8);
        this.#draw();
    }

    get chosen() {
        return [...this.#chosen.values()];
    }

    #searchSoon() {
        clearTimeout(this.#timer);
        const query = this.#search.value.trim();
        this.#timer = setTimeout(async () => {
            try {
                const found = query ? this.#allowed(await this.#chat.findPeople(query)) : this.#suggested;
                if (query !== this.#search.value.trim()) return;
                this.#found = found;
                this.#draw();
                this.#note.textContent = found.length === 0 ? t('inbox.nobodyFound') : '';
            } catch (error) {
                showProblem(error);
            }
        }, query ? pause : 0);
    }

    /** @param {Person[]} people */
    #allowed(people) {
        const ownID = this.#chat.session.value?.user.id;
        return people.filter(({ id }) => id !== ownID && !this.#excluded.has(id));
    }

    #draw() {
        const others = this.#found.filter(({ id }) => !this.#chosen.has(id));
        fill(this.#list, ...[...this.#chosen.values(), ...others].map((person) => this.#item(person)));
    }

    /** @param {Person} person */
    #item(person) {
        const box = element('input', {
            type: 'checkbox',
            checked: this.#chosen.has(person.id),
            onchange: () => {
                if (box.checked) this.#chosen.set(person.id, person);
                else this.#chosen.delete(person.id);
                this.#onchange(this.chosen);
            },
        });
        return element(
            'li',
            {},
            element(
                'label',
                { class: 'choice' },
                avatar(personSubject(person), this.#chat, 'small'),
                element(
                    'span',
                    { class: 'person' },
                    element('span', { dir: 'auto' }, person.name),
                    ' ',
                    person.username && element('span', { class: 'hint' }, `@${person.username}`),
                ),
                box,
            ),
        );
    }
}
