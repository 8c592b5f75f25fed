// Who reacted to a message: named when the mouse or the focus is on a reaction, and listed in a dialog.

import * as requests from '../../core/requests.js';
import { element } from '../dom.js';
import { button } from '../parts/action.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { item, list } from '../parts/controls.js';
import { openDialog } from '../parts/dialog.js';
import { formatList, formatNumber, t } from '../../language/index.js';

/** @typedef {import('../../core/types.js').ChatShape} Chat */
/** @typedef {import('../../core/types.js').Message} Message */
/** @typedef {import('../../core/types.js').Person} Person */

const namesMax = 8;

/** Describes a reaction by the names of those who reacted so.
 * @param {Chat} chat @param {Message} message @param {HTMLElement} reaction its button
 * @param {Map<string, string>} titles those that are known: rows that are built again show them, too
 */
export async function nameReactors(chat, message, reaction, titles) {
    const [emoji] = reaction.textContent.split(' ');
    const count = message.reactions[emoji]?.count ?? 0;
    const key = `${message.id} ${emoji} ${count}`;
    try {
        const title = titles.get(key) ?? await namesOf(chat, message, emoji, count);
        titles.set(key, title);
        reaction.title = title;
    } catch {
        // Offline, the reaction says its count only.
    }
}

/** @param {Chat} chat @param {Message} message @param {string} emoji @param {number} count */
async function namesOf(chat, message, emoji, count) {
    const { users } = await requests.reactors(chat, message, emoji, { limit: namesMax });
    return reactorsText(users, count, emoji, chat.session.value?.user.id);
}

/** Returns a sentence such as "Ben and you reacted with 👍".
 * @param {Person[]} users @param {number} count @param {string} emoji @param {string | undefined} me
 */
export function reactorsText(users, count, emoji, me) {
    const names = users.filter(({ id }) => id !== me).map(({ name }) => name);
    if (users.some(({ id }) => id === me)) names.push(t('conversation.youToo'));
    const others = count - users.length;
    if (others > 0) names.push(t('conversation.othersToo', { count: others }));
    return t('conversation.reactedWith', { names: formatList(names), emoji });
}

/** Opens the list of all who reacted.
 * @param {Chat} chat @param {Message} message
 */
export async function openReactors(chat, message) {
    const sections = await Promise.all(
        Object.entries(message.reactions).map(async ([emoji, { count }]) => {
            const title = `${emoji} ${formatNumber(count)}`;
            const people = list(title);
            const more = button(t('conversation.more'), () => load(), 'small');
            /** @type {string | null | undefined} */
            let page;
            const load = async () => {
                const answer = await requests.reactors(chat, message, emoji, { limit: 50, page });
                people.append(
                    ...answer.users.map((user) => item(avatar(personSubject(user), chat, 'small'), user.name, [])),
                );
                page = answer.next;
                more.hidden = !page;
            };
            await load();
            return element('section', {}, element('h3', { class: 'reaction-title' }, title), people, more);
        }),
    );
    openDialog({ title: t('conversation.reactors') }, ...sections);
}
