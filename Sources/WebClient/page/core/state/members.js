// Changes of a thread's list of members.

/** @import { Member, Person } from './records.js' */

import { renamed } from './message.js';

/** The members with one of them replaced or added.
 * @param {Member[]} members
 * @param {Member} member
 * @returns {Member[]}
 */
export function withMember(members, member) {
    const index = members.findIndex(({ user }) => user.id === member.user.id);
    return index < 0 ? [...members, member] : members.with(index, member);
}

/** The members after a person's marks moved. Marks of members never move back.
 * @param {Member[]} members
 * @param {{user_id: string, read_seq: number, delivered_seq: number, read_at?: string | null, delivered_at?: string | null}} marks
 * @returns {Member[]}
 */
export function withMarks(members, { user_id, read_seq, delivered_seq, read_at, delivered_at }) {
    return members.map((member) => {
        if (member.user.id !== user_id) return member;
        const changed = { ...member };
        if (isLater(read_seq, read_at, member.read_seq, member.read_at)) {
            Object.assign(changed, { read_seq, read_at: read_at ?? member.read_at });
        }
        if (isLater(delivered_seq, delivered_at, member.delivered_seq, member.delivered_at)) {
            Object.assign(changed, { delivered_seq, delivered_at: delivered_at ?? member.delivered_at });
        }
        return changed;
    });
}

/** A message moves its sender's mark and brings no time. A receipt made at that moment follows with the time.
 * @param {number} seq @param {string | null | undefined} at @param {number} knownSeq @param {string | null | undefined} knownAt */
function isLater(seq, at, knownSeq, knownAt) {
    return seq > knownSeq || seq === knownSeq && (at ?? '') > (knownAt ?? '');
}

/** The members after a `user.updated`.
 * @param {Member[]} members
 * @param {Person} person
 * @returns {Member[]}
 */
export function withRenamedMember(members, person) {
    return members.map((member) => ({ ...member, user: renamed(member.user, person) }));
}
