import { Component, element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';

/** Turns alerts of this browser on and off, and says why it cannot. */
export class NotificationField extends Component {
    /** @param {import('../../core/types.js').ChatShape} chat */
    constructor(chat) {
        super();
        this.chat = chat;
    }

    connectedCallback() {
        this.follow(this.chat.push, (state) => this.#show(state));
    }

    /** @param {NonNullable<import('../../core/types.js').ChatShape['push']['value']>} state */
    #show(state) {
        const isOn = state === 'on';
        const button = element('button', {
            class: 'button',
            type: 'button',
            onclick: () => attempt(() => isOn ? this.chat.disablePush() : this.chat.enablePush(), button),
        }, t(isOn ? 'settings.disablePush' : 'settings.enablePush'));
        fill(
            this,
            element('p', { class: 'hint' }, t(`settings.push.state.${state}`)),
            (isOn || state === 'off') && button,
        );
    }
}

customElements.define('parley-notifications', NotificationField);
