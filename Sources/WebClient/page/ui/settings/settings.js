// The dialog "Settings": the profile, this device, other devices and the account.

import { element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';
import { personSubject } from '../parts/avatar.js';
import { button, checkbox, field, list, live, openForm, words } from '../parts/controls.js';
import { icon } from '../parts/icon.js';
import { pictureField } from '../parts/picture-field.js';
import { shortTime } from '../parts/time.js';
import { currentTheme, setTheme } from '../shell/theme.js';
import { accountRows } from './account.js';

/** @import {ChatShape, Device} from '../../core/types.js' */

/** @type {import('../shell/theme.js').Theme[]} */
const themes = ['system', 'light', 'dark'];
const pushChoices = ['full', 'sender_only', 'none'];

/** Opens the settings.
 * @param {ChatShape} chat
 */
export function openSettings(chat) {
    const me = chat.me.value ?? chat.session.value?.user;
    if (!me) return;
    const { push = 'full', share_presence: isShared = true } = chat.me.value?.preferences ?? {};
    /** @type {File | null | undefined} */
    let picture;
    const dialog = openForm(
        t('settings.title'),
        [
            pictureField(personSubject(me), chat, (chosen) => picture = chosen),
            field(t('settings.name'), { name: 'name', required: true, maxlength: 128, value: me.name }),
            field(t('settings.status'), { name: 'status', maxlength: 256, value: me.status_text ?? '' }),
            checkbox(t('settings.sharePresence'), { name: 'presence', checked: isShared }),
            themeField(),
            section(
                'settings.notifications',
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
                notificationField(chat),
            ),
            section('settings.devices', deviceList(chat)),
            section('settings.account', accountRows(chat)),
        ],
        t('settings.save'),
        ({ name, status, presence, push }) =>
            chat.updateProfile({
                name,
                status_text: status.trim() || null,
                profile_image: picture,
                preferences: { push, share_presence: presence === 'on' },
            }),
        [button(t('settings.signOut'), () => chat.signOut(), 'warn')],
    );
    dialog.classList.add('settings');
}

function themeField() {
    const current = currentTheme();
    const choice = (/** @type {import('../shell/theme.js').Theme} */ theme) => {
        const onchange = () => setTheme(theme);
        const input = element('input', { type: 'radio', name: 'theme', checked: theme === current, onchange });
        return element('label', {}, input, t(`settings.theme.${theme}`));
    };
    return element(
        'div',
        { class: 'field', role: 'radiogroup', 'aria-label': t('settings.theme') },
        element('span', { 'aria-hidden': 'true' }, t('settings.theme')),
        element('div', { class: 'segments' }, themes.map(choice)),
    );
}

/** Turns alerts of this browser on and off, and says why it cannot.
 * @param {ChatShape} chat
 */
function notificationField(chat) {
    return live(chat.push, (state) => [
        element('p', { class: 'hint' }, t(`settings.push.state.${state}`)),
        state === 'on' && button(t('settings.disablePush'), () => chat.disablePush()),
        state === 'off' && button(t('settings.enablePush'), () => chat.enablePush()),
    ]);
}

/** Builds the list of the devices that are signed in.
 * @param {ChatShape} chat
 */
function deviceList(chat) {
    const devices = list(t('settings.devices'));
    const others = button(t('settings.removeOthers'), () => chat.signOutOtherDevices().then(load), '', {
        hidden: true,
    });
    attempt(load);
    return element('div', { class: 'devices' }, devices, others);

    async function load() {
        const all = await chat.devices();
        all.sort((one, other) => Number(isCurrent(other)) - Number(isCurrent(one)));
        fill(devices, ...all.map(item));
        others.hidden = all.length < 2;
    }

    /** @param {Device} device */
    function isCurrent({ id, current }) {
        return current ?? id === chat.session.value?.id;
    }

    /** @param {Device} device */
    function item(device) {
        const name = device.device_name ?? t('settings.unnamedDevice');
        const lastUsed = t('settings.lastUsed', { time: shortTime(device.last_used_at) });
        const remove = button(t('settings.remove'), () => chat.signOutDevice(device.id).then(load), 'quiet warn', {
            'aria-label': t('settings.removeDevice', { device: name }),
        });
        return element(
            'li',
            { class: 'person-row' },
            icon('device'),
            words(name, [isCurrent(device) ? t('settings.thisDevice') : lastUsed]),
            !isCurrent(device) && remove,
        );
    }
}

/**
 * @param {string} title
 * @param {...import('../dom.js').Child} content
 */
function section(title, ...content) {
    return element('section', {}, element('h3', {}, t(title)), ...content);
}
