// Requests that only dialogs, menus and the search make. Their promises reject with a Problem. Their changes arrive as events.

import { pathOf } from './calls.js';
import { problemOf } from './http/problem.js';
import { uploadPicture } from './sync/upload.js';

/** @typedef {import('./types.js').ChatShape} Chat */
/** @typedef {import('./types.js').Person} Person */
/** @typedef {import('./types.js').Thread} Thread */
/** @typedef {import('./types.js').Message} Message */

/** @param {Chat} chat
 * @returns {Promise<import('./types.js').Device[]>} */
export async function devices(chat) {
    const current = chat.session.value?.id;
    const sessions = await chat.http.list('/v1/sessions', 'sessions');
    return sessions.map((session) => ({ ...session, current: session.id === current }));
}

/** @param {Chat} chat
 * @param {string} sessionID */
export async function signOutDevice(chat, sessionID) {
    await chat.http.delete('/v1/sessions/' + sessionID);
}

/** @param {Chat} chat */
export async function signOutOtherDevices(chat) {
    await chat.http.delete('/v1/sessions');
}

/** @param {Chat} chat
 * @returns {Promise<Blob>} */
export async function exportData(chat) {
    return await (await chat.http.send('GET', '/v1/users/me/export', { seconds: 600 })).blob();
}

/** @param {Chat} chat
 * @param {{current: string, new: string}} change */
export async function changePassword(chat, change) {
    await chat.http.call('PUT', '/v1/users/me/password', { json: change, tries: 1 });
}

/** Has a code mailed to an address, which `confirmEmail` makes the account's.
 * @param {Chat} chat
 * @param {string} email */
export async function requestEmail(chat, email) {
    await chat.http.send('PUT', '/v1/users/me/email', { json: { email } });
}

/** @param {Chat} chat
 * @param {string} code */
export async function confirmEmail(chat, code) {
    await chat.http.post('/v1/users/me/email', { code });
}

/** @param {Chat} chat */
export async function removeEmail(chat) {
    await chat.http.delete('/v1/users/me/email');
}

/** @param {Chat} chat
 * @param {{name?: string, status_text?: string | null, profile_image?: File | null, preferences?: object}} change */
export async function updateProfile(chat, { profile_image, ...change }) {
    await chat.http.patch('/v1/users/me', { ...change, ...await picture(chat, 'profile_image', profile_image) });
}

/** @param {Chat} chat
 * @param {string} query @returns {Promise<Person[]>} */
export async function findPeople(chat, query) {
    if (!query.trim()) return [];
    return (await chat.http.get('/v1/users', { query: query.trim(), limit: 30 })).users;
}

/** Returns a page of the rooms whose titles begin so, the largest first.
 * @param {Chat} chat
 * @param {string} query @param {string | null} [page]
 * @returns {Promise<{rooms: import('./types.js').Room[], next?: string | null}>} */
export async function findRooms(chat, query, page) {
    return await chat.http.get('/v1/rooms', { query: query.trim() || undefined, limit: 50, page });
}

/** @param {Chat} chat
 * @param {{kind: 'direct' | 'group', title?: string, members: string[], invite?: boolean}} thread
 * @returns {Promise<Thread>} */
export async function createThread(chat, thread) {
    return await chat.storeThread(() => chat.http.post('/v1/threads', thread));
}

/** @param {Chat} chat
 * @param {string} title @returns {Promise<Thread>} */
export async function joinRoom(chat, title) {
    return await chat.storeThread(() => chat.http.call('POST', '/v1/rooms', { json: { title }, tries: 3 }));
}

/** @param {Chat} chat
 * @param {string} threadID */
export async function acceptInvitation(chat, threadID) {
    await chat.http.put(`/v1/threads/${threadID}/members/me`, { status: 'joined' });
}

/** Leaves a thread, or declines an invitation.
 * @param {Chat} chat
 * @param {string} threadID */
export async function leaveThread(chat, threadID) {
    await chat.http.delete(`/v1/threads/${threadID}/members/me`);
}

/** @param {Chat} chat
 * @param {string} threadID
 * @param {{title?: string, topic?: string | null, image?: File | null, retention?: object}} change */
export async function updateThread(chat, threadID, { image, ...change }) {
    await chat.http.patch('/v1/threads/' + threadID, { ...change, ...await picture(chat, 'image', image) });
}

/** @param {Chat} chat
 * @param {string} threadID @param {string} userID @param {{role?: string, status?: string}} change */
export async function setMember(chat, threadID, userID, change) {
    await chat.http.put(`/v1/threads/${threadID}/members/${userID}`, change);
}

/** @param {Chat} chat
 * @param {string} threadID @param {string} userID */
export async function removeMember(chat, threadID, userID) {
    await chat.http.delete(`/v1/threads/${threadID}/members/${userID}`);
}

/** @param {Chat} chat
 * @param {Message} message
 * @returns {Promise<{user: Person, read_at: string | null, delivered_at: string | null}[]>} */
export function receipts(chat, message) {
    return chat.http.list(pathOf(message) + '/receipts', 'receipts');
}

/** @param {Chat} chat
 * @param {string} threadID
 * @param {{muted_until?: string | null, archived?: boolean, pinned?: boolean, notify?: import('./types.js').Notify,
 * hidden_before_seq?: number, labels?: string[]}} change */
export async function updateSettings(chat, threadID, change) {
    await chat.http.patch(`/v1/threads/${threadID}/settings`, change);
}

/** @param {Chat} chat
 * @param {Message} message @param {'everyone' | 'me'} audience */
export async function deleteMessage(chat, message, audience) {
    await chat.http.delete(pathOf(message), { for: audience });
}

/** Returns a page of those who reacted to a message with an emoji, the newest first.
 * @param {Chat} chat
 * @param {Message} message @param {string} emoji @param {{limit: number, page?: string | null}} place
 * @returns {Promise<{users: Person[], next?: string | null}>} */
export async function reactors(chat, message, emoji, place) {
    return await chat.http.get(`${pathOf(message)}/reactions/${encodeURIComponent(emoji)}`, place);
}

/** Returns a page of the earlier versions of a message, the newest first.
 * @param {Chat} chat
 * @param {Message} message @param {string | null} [page]
 * @returns {Promise<{edits: {payload: Message['payload'], written_at: string}[], next?: string | null}>} */
export async function edits(chat, message, page) {
    return await chat.http.get(pathOf(message) + '/edits', { limit: 50, page });
}

/** @param {Chat} chat
 * @param {{thread_id: string, message_id: string, reason: string} | {user_id: string, reason: string}} report */
export async function report(chat, report) {
    await chat.http.post('/v1/reports', report);
}

/** @param {Chat} chat
 * @param {string} userID @returns {Promise<Person>} */
export async function user(chat, userID) {
    return await chat.http.get('/v1/users/' + userID);
}

/** Returns null if there was no answer. @param {unknown} error */
export function offline(error) {
    if (problemOf(error).status !== 0) throw error;
    return null;
}

/** @param {Chat} chat @param {string} key @param {File | null | undefined} file null: none any more, undefined: no change */
async function picture(chat, key, file) {
    if (!file) return file === null ? { [key]: null } : {};
    return { [key]: 'attachment:' + await uploadPicture(chat.http, file) };
}
