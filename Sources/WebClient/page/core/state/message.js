// Changes of one message.

/** @import { Message, Person } from './records.js' */

/** A message of an event as the archive would return it. Events do not say which reactions are the user's own.
 * @param {Message} message
 * @param {Message | undefined} known the stored message, whose own reactions are kept
 * @returns {Message}
 */
export function fromEvent(message, known) {
    /** @type {Message['reactions']} */
    const reactions = {};
    for (const [emoji, { count }] of Object.entries(message.reactions)) {
        reactions[emoji] = { count, me: known?.reactions[emoji]?.me === true };
    }
    return keepingPayload({ ...message, reactions }, known);
}

/** The message with the payload of the stored one, if the server has forgotten the payload: the device's copy may be the
 * last one.
 * @param {Message} message
 * @param {Message | undefined} known
 * @returns {Message}
 */
export function keepingPayload(message, known) {
    const isForgotten = message.payload === null && message.deleted_at === null;
    return isForgotten && known?.id === message.id ? { ...message, payload: known.payload } : message;
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
