// Reactions that were chosen without a connection, on their way to the server.

import { pathOf } from '../calls.js';
import { BackOff, sleep } from '../http/back-off.js';
import { problemOf } from '../http/problem.js';

/** `isAnswered`: the server has it, and its event is on the way.
 * @typedef {{thread_id: string, message_id: string, emoji: string, isPut: boolean, isAnswered: boolean}} Reaction */
/** @typedef {import('../store/schema.js').Store} Store */
/** @typedef {import('../types.js').Message} Message */

/** How long an answered reaction waits for its event. */
const eventMilliseconds = 5000;

/** Stores a reaction. The leader sends it. A later choice of the same emoji replaces it.
 * @param {Store} store @param {Message} message @param {string} emoji @param {boolean} isPut false: taken back */
export function putReaction(store, { thread_id, id }, emoji, isPut) {
    return store.write(['reactions'], (tx) => {
        tx.put('reactions', { thread_id, message_id: id, emoji, isPut, isAnswered: false });
        tx.publish('reaction/' + thread_id);
    });
}

/** Sends stored reactions until none is left.
 * @param {{store: Store, http: import('../http/http.js').HTTP, onFailure: (error: unknown) => void}} means `onFailure`
 * receives final refusals
 * @param {AbortSignal} signal */
export async function sendReactions({ store, http, onFailure }, signal) {
    const backOff = new BackOff();
    while (!signal.aborted) {
        const reaction = (await waiting(store))[0];
        if (!reaction) return;
        const { thread_id, message_id: id, emoji, isPut } = reaction;
        const path = `${pathOf({ thread_id, id })}/reactions/${encodeURIComponent(emoji)}`;
        try {
            await http.call(isPut ? 'PUT' : 'DELETE', path, { tries: 1, signal });
            await settle(store, reaction, true);
            void sleep(eventMilliseconds, signal).then(() => settle(store, { ...reaction, isAnswered: true }, false));
            backOff.reset();
        } catch (error) {
            const problem = problemOf(error);
            if (problem.isSignedOut) return;
            if (problem.isTemporary) {
                await sleep(backOff.next(problem), signal);
                continue;
            }
            await settle(store, reaction, false);
            onFailure(error);
        }
    }
}

/** @param {Store} store @returns {Promise<Reaction[]>} */
async function waiting(store) {
    return (await store.read(['reactions'], (tx) => tx.all('reactions'))).filter(({ isAnswered }) => !isAnswered);
}

/** Marks a reaction as answered, or removes it, unless the user has chosen otherwise since.
 * @param {Store} store @param {Reaction} reaction @param {boolean} isKept */
function settle(store, reaction, isKept) {
    const key = [reaction.thread_id, reaction.message_id, reaction.emoji];
    return store.write(['reactions'], async (tx) => {
        const stored = await tx.get('reactions', key);
        if (!stored || stored.isPut !== reaction.isPut || stored.isAnswered !== reaction.isAnswered) return;
        if (isKept) tx.put('reactions', { ...stored, isAnswered: true });
        else tx.delete('reactions', key);
        tx.publish('reaction/' + reaction.thread_id);
    });
}
