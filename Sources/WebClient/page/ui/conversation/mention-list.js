// Completion of names: `@` and letters list the members whose name begins so.

import { element, fill } from '../dom.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { t } from '../../language/index.js';

/** @typedef {import('../../core/types.js').Member} Member */
/** @typedef {import('../../core/types.js').Person} Person */

const shownMax = 6;

export class MentionList {
    #text;
    #members;
    #chat;
    #selected = 0;
    /** @type {Person[]} */
    #found = [];
    /** People who were chosen from the list, the last one first: names are not unique. @type {Person[]} */
    #chosen = [];

    /** @param {HTMLTextAreaElement} text @param {() => Member[]} members @param {import('../../core/types.js').ChatShape} chat */
    constructor(text, members, chat) {
        this.#text = text;
        this.#members = members;
        this.#chat = chat;
        this.element = element('ul', {
            class: 'mention-list',
            id: 'mention-list',
            role: 'listbox',
            'aria-label': t('conversation.mention'),
            hidden: true,
        });
        text.setAttribute('aria-autocomplete', 'list');
        text.setAttribute('aria-controls', this.element.id);
        for (const event of ['input', 'click']) text.addEventListener(event, () => this.#update());
        text.addEventListener('blur', () => this.close());
    }

    /** The people with those first who were chosen from the list. @param {Person[]} people */
    inOrder(people) {
        return [...this.#chosen.filter(({ id }) => people.some((person) => person.id === id)), ...people];
    }

    /** @param {KeyboardEvent} event @returns {boolean} whether the key was for the list */
    handleKey(event) {
        if (this.#found.length === 0) return false;
        const steps = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1 });
        if (event.key in steps) {
            this.#selected = (this.#selected + steps[event.key] + this.#found.length) % this.#found.length;
            this.#show();
        } else if (event.key === 'Enter' || event.key === 'Tab') this.#choose(this.#found[this.#selected]);
        else if (event.key === 'Escape') this.close();
        else return false;
        event.preventDefault();
        event.stopPropagation();
        return true;
    }

    close() {
        this.#found = [];
        this.#show();
    }

    #update() {
        const query = this.#query();
        const wanted = query?.toLocaleLowerCase();
        this.#found = wanted === undefined
            ? []
            : this.#members().map(({ user }) => user).filter(({ name, username }) => {
                const words = name.toLocaleLowerCase();
                return words.startsWith(wanted) || words.split(/\s+/).some((word) => word.startsWith(wanted)) ||
                    username?.startsWith(wanted);
            }).slice(0, shownMax);
        // A name that is there in full needs no completion.
        if (this.#found.length === 1 && this.#found[0].name === query) this.#found = [];
        this.#selected = 0;
        this.#show();
    }

    /** The text between an `@` and the cursor, if that may be a name. */
    #query() {
        const { value, selectionStart, selectionEnd } = this.#text;
        if (selectionStart !== selectionEnd) return undefined;
        return /(?:^|[\s(])@([\p{L}\p{N}\p{M}_.' -]{0,40})$/u.exec(
            value.slice(Math.max(0, selectionStart - 50), selectionStart),
        )?.[1];
    }

    /** @param {Person} person */
    #choose(person) {
        const end = this.#text.selectionStart;
        const start = end - (this.#query() ?? '').length;
        this.#text.setRangeText(`${person.name} `, start, end, 'end');
        this.#chosen = [person, ...this.#chosen.filter(({ id }) => id !== person.id)];
        this.close();
        this.#text.dispatchEvent(new Event('input', { bubbles: true }));
    }

    #show() {
        const { element: list } = this;
        list.hidden = this.#found.length === 0;
        fill(
            list,
            this.#found.map((person, index) =>
                element(
                    'li',
                    {
                        id: `mention-${index}`,
                        role: 'option',
                        'aria-selected': String(index === this.#selected),
                        // Not click: the textbox keeps the focus.
                        onpointerdown: (/** @type {PointerEvent} */ event) => {
                            event.preventDefault();
                            this.#choose(person);
                        },
                    },
                    avatar(personSubject(person), this.#chat, 'small'),
                    element('bdi', {}, person.name),
                    person.username ? element('span', { class: 'hint' }, `@${person.username}`) : null,
                )
            ),
        );
        if (this.#found.length > 0) this.#text.setAttribute('aria-activedescendant', `mention-${this.#selected}`);
        else this.#text.removeAttribute('aria-activedescendant');
    }
}
