// Changes of one message.

/** @import { Message, Person } from './records.js' */

/** A message of the server as the history would return it, with what only the device knows. Events and the answers of sends
 * and edits do not say which reactions are the user's own. Once all devices have a message, the server forgets its payload,
 * and the device's copy may be the last one.
 * @param {Message} message
 * @param {Message | undefined} known the stored message at its place
 * @returns {Message}
 */
export function withKnown(message, known) {
    const same = known?.id === message.id ? known : undefined;
    /** @type {Message['reactions']} */
    const reactions = {};
    for (const [emoji, { count, me = same?.reactions[emoji]?.me === true }] of Object.entries(message.reactions)) {
        reactions[emoji] = { count, me };
    }
    const isForgotten = message.payload === null && message.deleted_at === null;
    return { ...message, ...(isForgotten && same ? { payload: same.payload } : {}), reactions };
}

/** Whether the stored message has every edit of another copy.
 * @param {Message | undefined} known
 * @param {Message} message
 * @returns {boolean}
 */
export function isAsRecent(known, message) {
    if (known?.id !== message.id) return false;
    return known.deleted_at !== null || (known.edited_at ?? '') >= (message.edited_at ?? '');
}

/** The message after a `reaction.updated`.
 * @param {Message} message
 * @param {{user_id: string, emoji: string, put: boolean, count: number}} reaction
 * @param {string} userID
 * @returns {Message}
 */
export function withReaction(message, { user_id, emoji, put, count }, userID) {
    const { [emoji]: known, ...reactions } = message.reactions;
    if (count > 0) reactions[emoji] = { count, me: user_id === userID ? put : known?.me === true };
    return { ...message, reactions };
}

/** The message with reactions that the user has chosen and the server does not have yet.
 * @param {Message} message
 * @param {{message_id: string, emoji: string, isPut: boolean}[]} chosen
 * @returns {Message}
 */
export function withOwnReactions(message, chosen) {
    const reactions = { ...message.reactions };
    for (const { message_id, emoji, isPut } of chosen) {
        const { count = 0, me = false } = reactions[emoji] ?? {};
        if (message_id !== message.id || me === isPut) continue;
        const changed = count + (isPut ? 1 : -1);
        if (changed > 0) reactions[emoji] = { count: changed, me: isPut };
        else delete reactions[emoji];
    }
    return { ...message, reactions };
}

/** A person after a `user.updated`: the keys that `person` has, but not the presence.
 * @template {Person | null | undefined} P
 * @param {P} person
 * @param {Person} update
 * @returns {P}
 */
export function renamed(person, update) {
    if (!person || person.id !== update.id) return person;
    const { presence: _presence, last_seen_at: _lastSeenAt, ...profile } = update;
    const entries = Object.entries(profile).filter(([key]) => key in person);
    return { ...person, ...Object.fromEntries(entries) };
}
