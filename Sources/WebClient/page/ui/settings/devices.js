import { Component, element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';
import { icon } from '../parts/icon.js';
import { shortTime } from '../parts/time.js';

/** @typedef {import('../../core/types.js').Device} Device */

/** The devices that are signed in, each with a button that signs it out. */
export class DeviceList extends Component {
    #list = element('ul', { class: 'people', role: 'list', 'aria-label': t('settings.devices') });
    #others;

    /** @param {import('../../core/types.js').ChatShape} chat */
    constructor(chat) {
        super();
        this.chat = chat;
        this.#others = element('button', {
            class: 'button',
            type: 'button',
            hidden: true,
            onclick: () => this.#change(() => chat.signOutOtherDevices(), this.#others),
        }, t('settings.removeOthers'));
    }

    connectedCallback() {
        fill(this, this.#list, this.#others);
        attempt(() => this.#load());
    }

    async #load() {
        const devices = await this.chat.devices();
        const isCurrent = (/** @type {Device} */ device) => device.current ?? device.id === this.chat.session.value?.id;
        devices.sort((one, other) => Number(isCurrent(other)) - Number(isCurrent(one)));
        fill(this.#list, ...devices.map((device) => this.#item(device, isCurrent(device))));
        this.#others.hidden = devices.length < 2;
    }

    /**
     * @param {Device} device
     * @param {boolean} isCurrent
     */
    #item({ id, device_name: name, last_used_at: lastUsed }, isCurrent) {
        const label = name ?? t('settings.unnamedDevice');
        const remove = element('button', {
            class: 'button quiet warn',
            type: 'button',
            'aria-label': t('settings.removeDevice', { device: label }),
            onclick: () => this.#change(() => this.chat.signOutDevice(id), remove),
        }, t('settings.remove'));
        return element(
            'li',
            { class: 'person-row' },
            icon('device'),
            element(
                'span',
                { class: 'person' },
                element('span', { dir: 'auto' }, label),
                element(
                    'span',
                    { class: 'hint' },
                    isCurrent ? t('settings.thisDevice') : t('settings.lastUsed', { time: shortTime(lastUsed) }),
                ),
            ),
            !isCurrent && remove,
        );
    }

    /**
     * @param {() => Promise<void>} action
     * @param {HTMLElement} control
     */
    #change(action, control) {
        attempt(async () => {
            await action();
            await this.#load();
        }, control);
    }
}

customElements.define('parley-devices', DeviceList);
