// Labels of conversations: the host app's, which all members see, and the user's own. The page shows both as folders.

/** @import { Thread } from '../types.js' */

export const labelsMax = 8;
export const labelLengthMax = 64;

/** Returns all labels of a thread, each once: the thread's, then the user's own.
 * @param {Thread} thread
 * @returns {string[]}
 */
export function labelsOf({ labels = [], me }) {
    return [...new Set([...labels, ...me.labels ?? []])];
}

/** Returns the labels of all threads in the order of their language.
 * @param {Thread[]} threads
 * @returns {string[]}
 */
export function folders(threads) {
    return [...new Set(threads.flatMap(labelsOf))].sort((one, other) => one.localeCompare(other));
}

/** Returns the labels with one more; null if a thread may not have it: nothing is left of it, it is too long, or the thread has
 * it or as many as it may have.
 * @param {string[]} labels
 * @param {string} text
 * @returns {string[] | null}
 */
export function withLabel(labels, text) {
    const label = text.trim();
    const length = [...label].length;
    const isTaken = labels.includes(label) || labels.length >= labelsMax;
    return length === 0 || length > labelLengthMax || isTaken ? null : [...labels, label];
}
