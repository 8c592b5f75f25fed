// The dialog that reports a message or a person to the moderators of the server.

import * as requests from '../../core/requests.js';
import { element, p } from '../dom.js';
import { labelled, openForm } from '../parts/controls.js';
import { summary } from '../parts/summary.js';
import { t } from '../../language/index.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */

/** @param {Chat} chat
 * @param {{message: import('../../core/types.js').Message} | {person: import('../../core/types.js').Person}} subject */
export function openReport(chat, subject) {
    const isMessage = 'message' in subject;
    const name = (isMessage ? subject.message.sender?.name : subject.person.name) ?? '';
    const reason = element('textarea', { class: 'input', name: 'reason', rows: 3, required: true, maxlength: 1000 });
    const target = isMessage
        ? { thread_id: subject.message.thread_id, message_id: subject.message.id }
        : { user_id: subject.person.id };
    openForm(
        t(isMessage ? 'conversation.reportMessage' : 'conversation.reportPerson', { name }),
        [
            isMessage &&
            element('blockquote', { class: 'quotation', dir: 'auto' }, summary(subject.message, undefined)),
            labelled(t('conversation.reportReason'), reason),
            p('hint', t('conversation.reportHint')),
        ],
        t('conversation.reportSend'),
        async ({ reason }) => await requests.report(chat, { ...target, reason: reason.trim() }),
    );
    reason.focus();
}
