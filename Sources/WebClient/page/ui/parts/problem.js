// What a refusal of the server means, in the language of the page: by its `code`, and by the fields that it names.

import { formatDuration, has, t } from '../../language/index.js';

/** @typedef {import('../../core/types.js').Refusal} Refusal */

/** The fields that these refusals are about. @type {Record<string, string>} */
const fields = {
    invitation_invalid: 'invitation',
    invitation_required: 'invitation',
    title_taken: 'title',
    username_taken: 'username',
    wrong_code: 'code',
    wrong_password: 'current',
};

/** Returns what a refusal says. A code that the page does not know, such as one of the operator's policy, has the server's
 * words.
 * @param {Refusal & {status?: number, retryAfter?: number | null}} problem
 * @returns {string}
 */
export function problemText(problem) {
    const { code, detail, errors, status = 0, retryAfter } = problem;
    if (code === 'invalid' && errors.length > 0) return errors.map(fieldText).join(' ');
    const key = `problem.${code}`;
    if (has(key)) return t(key, { time: formatDuration(retryAfter ?? 1, 'second') });
    return status >= 500 ? t('problem.server') : detail;
}

/** Returns the fields that a refusal names, each with its text.
 * @param {Refusal} problem
 * @returns {{field: string, text: string}[]}
 */
export function fieldProblems(problem) {
    const { code, errors } = problem;
    if (code in fields) return [{ field: fields[code], text: problemText(problem) }];
    return errors.map((error) => ({ field: error.field, text: fieldText(error) }));
}

/** Returns the rule of a field.
 * @param {{field: string, detail: string}} error
 */
function fieldText({ field, detail }) {
    const key = `problem.field.${field}`;
    return has(key) ? t(key) : detail;
}

/** Returns what is wrong with a new username; an empty text if nothing is.
 * @param {string} text
 */
export function usernameProblem(text) {
    return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text.trim()) ? '' : t('problem.field.username');
}

/** Returns what is wrong with a new password; an empty text if nothing is.
 * @param {string} text
 */
export function passwordProblem(text) {
    return [...text].length >= 8 ? '' : t('problem.field.password');
}
