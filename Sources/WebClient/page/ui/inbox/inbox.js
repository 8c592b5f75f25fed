// The list of conversations beside the open one.

import { Component, element } from '../dom.js';
import { t } from '../../language/index.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */

export class Inbox extends Component {
    /** Moves the focus to the text of the message that the user is writing. */
    onfocuscomposer = () => {};
    /** @type {string | null} */
    openThreadID = null;

    /** @param {Chat} chat */
    constructor(chat) {
        super();
        this.chat = chat;
    }

    connectedCallback() {
        this.append(element('nav', { 'aria-label': t('inbox.conversations') }));
    }

    focusSearch() {}

    /** @param {string} _threadID */
    focusThread(_threadID) {}
}

customElements.define('parley-inbox', Inbox);
