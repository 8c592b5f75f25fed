// The dialog "Settings": the profile, this device, other devices and the account.

import { Component, element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';
import { personSubject } from '../parts/avatar.js';
import { openDialog } from '../parts/dialog.js';
import { pictureField } from '../parts/picture-field.js';
import { currentTheme, setTheme } from '../shell/theme.js';
import { accountRows } from './account.js';
import { DeviceList } from './devices.js';
import { NotificationField } from './notifications.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */

const formID = 'settings-form';
/** @type {import('../shell/theme.js').Theme[]} */
const themes = ['system', 'light', 'dark'];
const pushChoices = ['full', 'sender_only', 'none'];

/** Opens the settings.
 * @param {Chat} chat
 */
export function openSettings(chat) {
    const save = element('button', { class: 'button primary', type: 'submit', form: formID }, t('settings.save'));
    const signOut = element(
        'button',
        { class: 'button warn', type: 'button', onclick: () => attempt(() => chat.signOut(), signOut) },
        t('settings.signOut'),
    );
    const dialog = openDialog({ title: t('settings.title'), class: 'settings' }, new Settings(chat, save));
    dialog.append(element('footer', { class: 'dialog-footer' }, signOut, save));
}

class Settings extends Component {
    /** @type {File | null | undefined} */
    #picture;
    #save;
    #isFilled = false;

    /**
     * @param {Chat} chat
     * @param {HTMLElement} save
     */
    constructor(chat, save) {
        super();
        this.chat = chat;
        this.#save = save;
    }

    connectedCallback() {
        const place = element('div', {});
        fill(
            this,
            place,
            themeField(),
            section('settings.notifications', new NotificationField(this.chat)),
            section('settings.devices', new DeviceList(this.chat)),
            section('settings.account', accountRows(this.chat)),
        );
        this.follow(this.chat.me, (me) => {
            // Filled once: what the user is typing stays while events arrive.
            if (!this.#isFilled) fill(place, this.#form(me));
            this.#isFilled = true;
        });
    }

    /** @param {NonNullable<Chat['me']['value']>} me */
    #form(me) {
        const { push = 'full', share_presence: isShared = true } = me.preferences ?? {};
        const field = (/** @type {string} */ label, /** @type {Record<string, unknown>} */ attributes) =>
            element('label', { class: 'field' }, t(label), element('input', { class: 'input', ...attributes }));
        return element(
            'form',
            { class: 'form', id: formID, onsubmit: (/** @type {SubmitEvent} */ event) => this.#submit(event) },
            pictureField(personSubject(me), this.chat, (picture) => this.#picture = picture),
            field('settings.name', { name: 'name', required: true, maxlength: 128, value: me.name }),
            field('settings.status', { name: 'status', maxlength: 256, value: me.status_text ?? '' }),
            element(
                'label',
                { class: 'choice' },
                element('input', { type: 'checkbox', name: 'presence', checked: isShared }),
                t('settings.sharePresence'),
            ),
            element(
                'label',
                { class: 'field' },
                t('settings.push'),
                element(
                    'select',
                    { class: 'input', name: 'push' },
                    pushChoices.map((value) =>
                        element('option', { value, selected: value === push }, t(`settings.push.${value}`))
                    ),
                ),
            ),
        );
    }

    /** @param {SubmitEvent} event */
    #submit(event) {
        event.preventDefault();
        const values = new FormData(/** @type {HTMLFormElement} */ (event.target));
        const text = (/** @type {string} */ name) => String(values.get(name) ?? '').trim();
        attempt(async () => {
            await this.chat.updateProfile({
                name: text('name'),
                status_text: text('status') || null,
                profile_image: this.#picture,
                preferences: { push: text('push'), share_presence: values.has('presence') },
            });
            this.closest('dialog')?.close();
        }, this.#save);
    }
}

function themeField() {
    const current = currentTheme();
    return element(
        'fieldset',
        { role: 'radiogroup', class: 'field', 'aria-label': t('settings.theme') },
        element('span', { 'aria-hidden': 'true' }, t('settings.theme')),
        element(
            'div',
            { class: 'segments' },
            themes.map((theme) =>
                element(
                    'label',
                    {},
                    element('input', {
                        type: 'radio',
                        name: 'theme',
                        checked: theme === current,
                        onchange: () => setTheme(theme),
                    }),
                    t(`settings.theme.${theme}`),
                )
            ),
        ),
    );
}

/**
 * @param {string} title
 * @param {...import('../dom.js').Child} content
 */
function section(title, ...content) {
    return element('section', { class: 'settings-section' }, element('h3', {}, t(title)), ...content);
}

customElements.define('parley-settings', Settings);
