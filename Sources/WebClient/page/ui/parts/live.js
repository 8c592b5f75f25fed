// A part of a dialog that follows a live value.

import { Component, fill } from '../dom.js';

class Live extends Component {
    onconnect = () => {};

    connectedCallback() {
        this.onconnect();
    }
}

customElements.define('parley-live', Live);

/** Builds an element whose children are `draw(value)`, now and after each change, while it is in the page. A focus in it
 * moves to the new button of the same name, else to the first one.
 * @template T
 * @param {import('../../core/types.js').Live<T>} value
 * @param {(value: T) => import('../dom.js').Child[]} draw
 */
export function live(value, draw) {
    const made = new Live();
    const nameOf = (/** @type {Element} */ button) => button.ariaLabel ?? button.textContent;
    made.onconnect = () =>
        made.follow(value, (value) => {
            const focused = document.activeElement;
            const hadFocus = made.contains(focused) && focused;
            fill(made, ...draw(value));
            if (!hadFocus) return;
            const buttons = [...made.querySelectorAll('button')];
            (buttons.find((button) => nameOf(button) === nameOf(hadFocus)) ?? buttons[0])?.focus();
        });
    return made;
}
