// The dialog "Settings": the profile, notifications, this device, other devices and the account. Each choice is stored when it
// is made.

import * as requests from '../../core/requests.js';
import { div, element } from '../dom.js';
import { formatList, t } from '../../language/index.js';
import { attempt, button } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { personSubject } from '../parts/avatar.js';
import {
    checkbox,
    field,
    findProblems,
    form,
    pictureField,
    showFieldProblems,
    showRefusal,
} from '../parts/controls.js';
import { confirm, openDialog } from '../parts/dialog.js';
import { currentTheme, setTheme } from '../shell/theme.js';
import { accountRows } from './account.js';
import { deviceList } from './devices.js';
import { notificationFields } from './notification-fields.js';

/** @import {ChatShape} from '../../core/types.js' */

/** @type {import('../shell/theme.js').Theme[]} */
const themes = ['system', 'light', 'dark'];

/** Opens the settings.
 * @param {ChatShape} chat
 */
export function openSettings(chat) {
    const me = chat.me.value ?? chat.session.value?.user;
    if (!me) return;
    const { share_presence: isShared = true, push = 'full' } = chat.me.value?.preferences ?? {};
    const saved = element('p', { class: 'hint', role: 'status' });
    const content = [
        pictureField(personSubject(me), chat, (picture) =>
            attempt(async () => {
                await requests.updateProfile(chat, { profile_image: picture });
                saved.textContent = t('notice.saved');
            })),
        me.username && usernameLine(me.username),
        field(t('settings.name'), { name: 'name', required: true, maxlength: 128, value: me.name }),
        field(t('settings.status'), { name: 'status_text', maxlength: 256, value: me.status_text ?? '' }),
        checkbox(t('settings.sharePresence'), { name: 'presence', checked: isShared }),
        themeField(),
        section('notice.notifications', ...notificationFields(chat, push)),
        section('settings.devices', deviceList(chat)),
        section('settings.account', accountRows(chat)),
        saved,
    ];
    const signOut = button(t('settings.signOut'), () => askAndSignOut(chat), 'warn');
    const made = form(content, t('settings.save'), async () => {
        if (await save()) dialog.close();
    }, [signOut]);
    let stored = valuesOf(made);
    /** @type {Promise<boolean>} */
    let saving = Promise.resolve(true);
    made.addEventListener('change', () => void save());
    // What was typed just before the dialog closes has not changed its field yet.
    const dialog = openDialog({ title: t('settings.title'), class: 'settings', onclose: () => void save() }, made);
    return dialog;

    /** Stores what has changed since the last time, one request after the other.
     * @returns {Promise<boolean>} whether everything is stored */
    function save() {
        saving = saving.then(async () => {
            const values = valuesOf(made);
            const changes = Object.entries(values).filter(([key, value]) =>
                JSON.stringify(value) !== JSON.stringify(Reflect.get(stored, key))
            );
            if (showFieldProblems(made, findProblems(made))) return false;
            if (changes.length === 0) return true;
            try {
                await requests.updateProfile(chat, Object.fromEntries(changes));
            } catch (error) {
                if (dialog.open) showRefusal(made, error);
                else showProblem(error);
                return false;
            }
            stored = values;
            saved.textContent = t('notice.saved');
            return true;
        });
        return saving;
    }
}

/** Returns what the fields say, by the names of the contract. Preferences are replaced as a whole.
 * @param {HTMLFormElement} form
 */
function valuesOf(form) {
    const { name, status_text, presence, push } = /** @type {Record<string, string>} */ (
        Object.fromEntries(new FormData(form))
    );
    return {
        name: name.trim(),
        status_text: status_text.trim() || null,
        preferences: { push, share_presence: presence === 'on' },
    };
}

/** @param {string} username */
function usernameLine(username) {
    const handle = `@${username}`;
    const copy = async () => {
        await navigator.clipboard.writeText(handle);
        done.textContent = t('notice.copied');
    };
    const done = element('span', { class: 'hint', role: 'status' });
    return div(
        'own-username',
        element('bdi', {}, handle),
        button(t('notice.copyUsername'), copy, 'quiet small'),
        done,
    );
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

/** Signs out, and asks before if something is lost by that.
 * @param {ChatShape} chat
 */
async function askAndSignOut(chat) {
    const { messages, drafts } = await chat.unsent();
    const lost = formatList([
        ...messages > 0 ? [t('notice.unsentMessages', { count: messages })] : [],
        ...drafts > 0 ? [t('notice.unsentDrafts', { count: drafts })] : [],
    ]);
    const action = t('settings.signOut');
    const question = { title: t('notice.signOutTitle'), text: t('notice.signOutText', { lost }), action };
    if (!lost || await confirm(question)) await chat.signOut();
}

/**
 * @param {string} title
 * @param {...import('../dom.js').Child} content
 */
function section(title, ...content) {
    return element('section', {}, element('h3', {}, t(title)), ...content);
}
