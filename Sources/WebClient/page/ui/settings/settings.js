// The dialog "Settings": the profile, this device, other devices and the account.

import * as requests from '../../core/requests.js';
import { div, element, fill, p } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt, button } from '../parts/action.js';
import { personSubject } from '../parts/avatar.js';
import { checkbox, field, item, labelled, list, openForm, pictureField } from '../parts/controls.js';
import { icon } from '../parts/icon.js';
import { live } from '../parts/live.js';
import { shortTime } from '../parts/time.js';
import { currentTheme, setTheme } from '../shell/theme.js';
import { accountRows } from './account.js';

/** @import {ChatShape, Device} from '../../core/types.js' */

/** @type {import('../shell/theme.js').Theme[]} */
const themes = ['system', 'light', 'dark'];
const alertChoices = ['full', 'sender_only', 'none'];

/** Opens the settings.
 * @param {ChatShape} chat
 */
export function openSettings(chat) {
    const me = chat.me.value ?? chat.session.value?.user;
    if (!me) return;
    const { push = 'full', share_presence: isShared = true } = chat.me.value?.preferences ?? {};
    /** @type {File | null | undefined} */
    let picture;
    const options = alertChoices.map((value) =>
        element('option', { value, selected: value === push }, t(`settings.push.${value}`))
    );
    const save = (/** @type {Record<string, string>} */ { name, status, presence, push }) =>
        requests.updateProfile(chat, {
            name,
            status_text: status.trim() || null,
            profile_image: picture,
            preferences: { push, share_presence: presence === 'on' },
        });
    const content = [
        pictureField(personSubject(me), chat, (chosen) => picture = chosen),
        field(t('settings.name'), { name: 'name', required: true, maxlength: 128, value: me.name }),
        field(t('settings.status'), { name: 'status', maxlength: 256, value: me.status_text ?? '' }),
        checkbox(t('settings.sharePresence'), { name: 'presence', checked: isShared }),
        themeField(),
        section(
            'settings.alerts',
            labelled(t('settings.push'), element('select', { class: 'input', name: 'push' }, options)),
            live(chat.push, (state) => [
                p('hint', t(`settings.push.state.${state}`)),
                state === 'on' && button(t('settings.disablePush'), () => chat.disablePush()),
                state === 'off' && button(t('settings.enablePush'), () => chat.enablePush()),
            ]),
        ),
        section('settings.devices', deviceList(chat)),
        section('settings.account', accountRows(chat)),
    ];
    const signOut = button(t('settings.signOut'), () => chat.signOut(), 'warn');
    openForm(t('settings.title'), content, t('settings.save'), save, [signOut]).classList.add('settings');
}

function themeField() {
    const choices = themes.map((theme) => {
        const attributes = { type: 'radio', name: 'theme', checked: theme === currentTheme() };
        const input = element('input', { ...attributes, onchange: () => setTheme(theme) });
        return element('label', {}, input, t(`settings.theme.${theme}`));
    });
    const group = element('div', { class: 'segments', role: 'radiogroup', 'aria-label': t('settings.theme') }, choices);
    return div('field', element('span', { 'aria-hidden': 'true' }, t('settings.theme')), group);
}

/** Builds the list of the devices that are signed in.
 * @param {ChatShape} chat
 */
function deviceList(chat) {
    const devices = list(t('settings.devices'));
    const others = button(t('settings.removeOthers'), () => requests.signOutOtherDevices(chat).then(load));
    attempt(load);
    return div('devices', devices, others);

    async function load() {
        const all = await requests.devices(chat);
        all.sort((one, other) => Number(isCurrent(other)) - Number(isCurrent(one)));
        fill(devices, ...all.map(deviceItem));
        others.hidden = all.length < 2;
    }

    /** @param {Device} device */
    function isCurrent({ id, current }) {
        return current ?? id === chat.session.value?.id;
    }

    /** @param {Device} device */
    function deviceItem(device) {
        const name = device.device_name ?? t('settings.unnamedDevice');
        if (isCurrent(device)) return item(icon('device'), name, [t('settings.thisDevice')]);
        const label = { 'aria-label': t('settings.removeDevice', { device: name }) };
        const remove = button(
            t('settings.remove'),
            () => requests.signOutDevice(chat, device.id).then(load),
            'quiet warn',
            label,
        );
        return item(icon('device'), name, [t('settings.lastUsed', { time: shortTime(device.last_used_at) })], remove);
    }
}

/**
 * @param {string} title
 * @param {...import('../dom.js').Child} content
 */
function section(title, ...content) {
    return element('section', {}, element('h3', {}, t(title)), ...content);
}
