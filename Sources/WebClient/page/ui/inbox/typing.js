import { formatList, t } from '../../language/index.js';

/** Returns who is typing, such as "Ben is typing…", or an empty text.
 * @param {import('../../core/types.js').Person[]} people
 */
export function typingText(people) {
    if (people.length === 0) return '';
    if (people.length > 3) return t('inbox.manyTyping');
    return t('inbox.typing', { names: formatList(people.map((person) => person.name)), count: people.length });
}
