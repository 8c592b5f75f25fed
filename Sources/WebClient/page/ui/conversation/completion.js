// Completion while writing: `@` lists the members, and letters those whose name begins so; `:` and two letters list emoji.

import { element, fill } from '../dom.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { findEmoji, loadEmoji } from '../../emoji/emoji.js';
import { t } from '../../language/index.js';

/** @typedef {import('../../core/types.js').Member} Member */
/** @typedef {import('../../core/types.js').Person} Person */
/** @typedef {{person: Person} | {emoji: import('../../emoji/emoji.js').Emoji}} Choice */

const shownMax = 8;
const patterns = {
    person: /(?:^|[\s(])@([\p{L}\p{N}\p{M}_.' -]{0,40})$/u,
    emoji: /(?:^|[\s(]):([\p{L}][\p{L}\p{N}\p{M}_+ -]{1,29})$/u,
};

export class Completion {
    #text;
    #members;
    #chat;
    #selected = 0;
    /** @type {Choice[]} */
    #found = [];
    /** @type {import('../../emoji/emoji.js').Group[] | null} */
    #emoji = null;
    /** People who were chosen from the list, the last one first: names are not unique. @type {Person[]} */
    #chosen = [];

    /** @param {HTMLTextAreaElement} text @param {() => Member[]} members @param {import('../../core/types.js').ChatShape} chat */
    constructor(text, members, chat) {
        this.#text = text;
        this.#members = members;
        this.#chat = chat;
        this.element = element('ul', {
            class: 'completion',
            id: 'completion',
            role: 'listbox',
            'aria-label': t('conversation.mention'),
            hidden: true,
        });
        text.setAttribute('aria-autocomplete', 'list');
        text.setAttribute('aria-controls', this.element.id);
        for (const event of ['input', 'click']) text.addEventListener(event, () => this.update());
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

    /** Lists what completes the text before the cursor. */
    update() {
        const name = this.#query('person');
        const words = name === undefined ? this.#query('emoji') : undefined;
        this.#found = name !== undefined ? this.#people(name) : words !== undefined ? this.#emojiNamed(words) : [];
        this.#selected = 0;
        this.#show();
    }

    /** @param {string} query @returns {Choice[]} */
    #people(query) {
        const wanted = query.toLocaleLowerCase();
        const found = this.#members().map(({ user }) => user).filter(({ name, username }) => {
            const words = name.toLocaleLowerCase();
            return words.startsWith(wanted) || words.split(/\s+/).some((word) => word.startsWith(wanted)) ||
                username?.startsWith(wanted);
        }).slice(0, shownMax);
        // A name that is there in full needs no completion.
        if (found.length === 1 && found[0].name === query) return [];
        return found.map((person) => ({ person }));
    }

    /** @param {string} words @returns {Choice[]} */
    #emojiNamed(words) {
        if (this.#emoji) {
            return findEmoji(this.#emoji, words.replaceAll('_', ' ')).slice(0, shownMax).map((emoji) => ({ emoji }));
        }
        loadEmoji().then((groups) => {
            this.#emoji = groups;
            this.update();
        }, () => {});
        return [];
    }

    /** The text between the sign and the cursor, if that may be a name. @param {keyof typeof patterns} kind */
    #query(kind) {
        const { value, selectionStart, selectionEnd } = this.#text;
        if (selectionStart !== selectionEnd) return undefined;
        return patterns[kind].exec(value.slice(Math.max(0, selectionStart - 50), selectionStart))?.[1];
    }

    /** @param {Choice} choice */
    #choose(choice) {
        const end = this.#text.selectionStart;
        if ('person' in choice) {
            const { person } = choice;
            const start = end - (this.#query('person') ?? '').length;
            this.#text.setRangeText(`${person.name} `, start, end, 'end');
            this.#chosen = [person, ...this.#chosen.filter(({ id }) => id !== person.id)];
        } else {
            const start = end - (this.#query('emoji') ?? '').length - 1;
            this.#text.setRangeText(`${choice.emoji.emoji} `, start, end, 'end');
        }
        this.close();
        this.#text.dispatchEvent(new Event('input', { bubbles: true }));
    }

    #show() {
        const { element: list } = this;
        list.hidden = this.#found.length === 0;
        list.ariaLabel = t(
            this.#found.some((choice) => 'emoji' in choice) ? 'emoji.chooseEmoji' : 'conversation.mention',
        );
        fill(
            list,
            this.#found.map((choice, index) =>
                element(
                    'li',
                    {
                        id: `completion-${index}`,
                        role: 'option',
                        'aria-selected': String(index === this.#selected),
                        // Not click: the textbox keeps the focus.
                        onpointerdown: (/** @type {PointerEvent} */ event) => {
                            event.preventDefault();
                            this.#choose(choice);
                        },
                    },
                    ...'person' in choice ? this.#personParts(choice.person) : emojiParts(choice.emoji),
                )
            ),
        );
        if (this.#found.length > 0) this.#text.setAttribute('aria-activedescendant', `completion-${this.#selected}`);
        else this.#text.removeAttribute('aria-activedescendant');
    }

    /** @param {Person} person */
    #personParts(person) {
        return [
            avatar(personSubject(person), this.#chat, 'small'),
            element('bdi', {}, person.name),
            person.username ? element('span', { class: 'hint' }, `@${person.username}`) : null,
        ];
    }
}

/** @param {import('../../emoji/emoji.js').Emoji} emoji */
function emojiParts({ emoji, name }) {
    return [element('span', { class: 'emoji', 'aria-hidden': 'true' }, emoji), element('span', {}, name)];
}
