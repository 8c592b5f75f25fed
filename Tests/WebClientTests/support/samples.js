// Records as the server sends them, except for what a test changes.

/** @import { Message, Thread } from '../../../Sources/WebClient/page/core/state/records.js' */

/** @param {Partial<Message>} [changes] @returns {Message} */
export function messageOf(changes) {
    return {
        id: 'm',
        thread_id: 't',
        seq: 1,
        timestamp: '2026-11-21T10:00:00.000Z',
        type: 'message',
        sender: { id: 'ann', name: 'Ann', profile_image: null },
        payload: {},
        reply_to: null,
        mentions: [],
        reactions: {},
        edited_at: null,
        deleted_at: null,
        expires_at: null,
        ...changes,
    };
}

/** A member's own part of a thread.
 * @param {number} read_seq
 * @returns {NonNullable<Thread['me']>}
 */
export function partOf(read_seq) {
    return {
        role: 'member',
        status: 'joined',
        read_seq,
        delivered_seq: read_seq,
        muted_until: null,
        archived: false,
        pinned: false,
        notify: 'all',
        hidden_before_seq: 0,
    };
}
