// The dialog about the account's e-mail address. The server does not say which address that is.

import * as requests from '../../core/requests.js';
import { element, p } from '../dom.js';
import { t } from '../../language/index.js';
import { button } from '../parts/action.js';
import { field, openForm } from '../parts/controls.js';
import { confirm, openDialog } from '../parts/dialog.js';

/** @import {ChatShape} from '../../core/types.js' */

/** Opens the dialog.
 * @param {ChatShape} chat
 */
export function openEmail(chat) {
    const title = t('settings.email');
    const remove = button(t('settings.removeEmail'), async () => {
        const question = { title: t('settings.removeEmail'), text: t('settings.removeEmailText') };
        if (!await confirm({ ...question, action: t('settings.remove') })) return;
        await requests.removeEmail(chat);
        dialog.close();
        say(t('settings.emailRemoved'));
    }, 'warn');
    const content = [
        p('', t('settings.emailText')),
        field(t('shell.email'), { name: 'email', type: 'email', required: true, autocomplete: 'email' }),
    ];
    const dialog = openForm(title, content, t('shell.sendCode'), async (values) => {
        const email = values.email.trim();
        await requests.requestEmail(chat, email);
        return () => openCode(chat, email);
    }, [remove]);
}

/** Asks for the code that was mailed.
 * @param {ChatShape} chat
 * @param {string} email
 */
function openCode(chat, email) {
    const attributes = { name: 'code', required: true, autocomplete: 'one-time-code', inputmode: 'numeric' };
    const content = [p('', t('shell.codeSent', { email })), field(t('shell.code'), attributes)];
    openForm(t('shell.enterCode'), content, t('shell.continue'), async ({ code }) => {
        await requests.confirmEmail(chat, code.replace(/\s/g, ''));
        return () => say(t('settings.emailSaved', { email }));
    });
}

/** @param {string} text */
function say(text) {
    openDialog({ title: t('settings.email') }, element('p', { role: 'status' }, text));
}
