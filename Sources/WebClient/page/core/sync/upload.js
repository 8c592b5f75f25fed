// Uploads that continue where they broke off.

import { sleep } from '../http/back-off.js';
import { newID } from '../id.js';
import { Problem, problemOf } from '../http/problem.js';

/** A file of a message that is not sent yet.
 * @typedef {import('../types.js').OutgoingFile & {message_id: string, isUploaded: boolean, isRepeated?: boolean}} StoredFile
 */
/** @typedef {{store: import('../store/schema.js').Store, http: import('../http/http.js').HTTP, signal: AbortSignal,
 * onProgress: () => void}} Means */

const smallestPart = 256 * 1024;
const largestPart = 8 * 1024 * 1024;

/** Uploads a file of the store, unless the server has it, and waits until it is checked. Bytes that have arrived are not
 * sent again.
 * @param {Means} means
 * @param {string} fileID
 * @returns {Promise<void>} Rejects with a Problem; after a temporary one call it again. */
export async function upload(means, fileID) {
    /** @type {StoredFile | undefined} */
    const file = await means.store.read(['files'], (tx) => tx.get('files', fileID));
    if (!file || file.isUploaded) return;
    if (!file.file) throw new Problem({ status: 400, code: 'file_lost', detail: 'The file is not stored any more.' });
    let attachment = await sendParts(means, file, file.file);
    while (attachment.state !== 'ready') {
        if (attachment.state === 'refused') throw refused();
        await sleep(1500, means.signal);
        if (means.signal.aborted) throw Problem.noAnswer();
        attachment = await infoOf(means, fileID);
    }
    await change(means.store, fileID, { sent: file.size, isUploaded: true });
}

/** Marks uploads as not done, so that they are done again; only once for each file.
 * @param {Means['store']} store
 * @param {string[]} fileIDs
 * @returns {Promise<boolean>} whether there is something to upload again */
export function forgetUpload(store, fileIDs) {
    return store.write(['files'], async (tx) => {
        let isChanged = false;
        for (const id of fileIDs) {
            const file = await tx.get('files', id);
            if (!file?.isUploaded || file.isRepeated) continue;
            tx.put('files', { ...file, sent: 0, isUploaded: false, isRepeated: true });
            isChanged = true;
        }
        return isChanged;
    });
}

/** Sends the bytes that the server lacks, part by part: each part reports progress, and a broken connection costs one part
 * at most.
 * @param {Means} means
 * @param {StoredFile} file
 * @param {Blob} blob
 * @returns {Promise<{state: string}>} the attachment */
async function sendParts(means, file, blob) {
    // Nothing was sent yet: one question less.
    let offset = file.sent > 0 ? await offsetOf(means, file.id) : null;
    let partSize = smallestPart;
    // An offset that moves in between is a matter of another try, not of a loop without an end.
    for (let conflicts = 0; conflicts < 5;) {
        if (offset === 'complete') return await infoOf(means, file.id);
        const start = offset ?? 0;
        const end = Math.min(start + partSize, blob.size);
        const startedAt = Date.now();
        // Recorded before the first byte is sent: a later try then requests the offset.
        if (offset === null) await change(means.store, file.id, { sent: Math.max(1, file.sent) });
        try {
            const response = await sendPart(means, file, blob.slice(start, end), offset, end === blob.size);
            if (end === blob.size) return await response.json();
            offset = end;
            means.onProgress();
            await change(means.store, file.id, { sent: end });
            // About a second for each part.
            if (Date.now() - startedAt < 700) partSize = Math.min(partSize * 2, largestPart);
        } catch (error) {
            const problem = problemOf(error);
            conflicts += 1;
            if (problem.code === 'upload_complete') offset = 'complete';
            else if (problem.code === 'upload_offset_mismatch') offset = await offsetOf(means, file.id);
            else if (problem.code === 'attachment_not_found' && offset !== null) offset = null;
            else throw error;
        }
    }
    throw Problem.noAnswer();
}

/** @param {Means} means
 * @param {StoredFile} file
 * @param {Blob} part
 * @param {number | null} offset null: the first part
 * @param {boolean} isLast */
function sendPart({ http, signal }, file, part, offset, isLast) {
    /** @type {Record<string, string>} */
    const headers = { 'Upload-Complete': isLast ? '?1' : '?0', 'Upload-Length': String(file.size) };
    // At least 8 KiB/s, as the server demands, and time for the check.
    const options = { body: part, seconds: 60 + part.size / 8192, signal };
    if (offset !== null) {
        headers['Content-Type'] = 'application/partial-upload';
        headers['Upload-Offset'] = String(offset);
        return http.send('PATCH', `/v1/attachments/${file.id}/upload`, { ...options, headers });
    }
    headers['Content-Type'] = file.type || 'application/octet-stream';
    // A whole file needs none of the headers of resumable uploads.
    if (isLast) delete headers['Upload-Length'];
    return http.send('PUT', '/v1/attachments/' + file.id, { ...options, headers, query: { name: file.name } });
}

/** Returns how many bytes have arrived, null if the server knows nothing of the upload.
 * @param {Means} means @param {string} id
 * @returns {Promise<number | 'complete' | null>} */
async function offsetOf({ http, signal }, id) {
    try {
        const { headers } = await http.send('HEAD', `/v1/attachments/${id}/upload`, { signal });
        return headers.get('Upload-Complete') === '?1' ? 'complete' : Number(headers.get('Upload-Offset'));
    } catch (error) {
        if (problemOf(error).status === 404) return null;
        throw error;
    }
}

/** @param {Means} means @param {string} id @returns {Promise<{state: string}>} */
function infoOf({ http, signal }, id) {
    return http.call('GET', `/v1/attachments/${id}/info`, { signal });
}

/** @param {Means['store']} store @param {string} id @param {Partial<StoredFile>} values */
function change(store, id, values) {
    return store.write(['files'], async (tx) => {
        const file = await tx.get('files', id);
        if (!file) return;
        tx.put('files', { ...file, ...values });
        tx.publish('file/' + file.message_id);
    });
}

/** Uploads a profile's or thread's picture and returns its id.
 * @param {import('../http/http.js').HTTP} http
 * @param {File} file
 * @returns {Promise<string>} */
export async function uploadPicture(http, file) {
    const id = newID();
    const headers = { 'Content-Type': file.type || 'application/octet-stream' };
    let attachment = await http.call('PUT', '/v1/attachments/' + id, {
        body: file,
        headers,
        query: { name: file.name },
        seconds: 60 + file.size / 8192,
    });
    while (attachment.state === 'checking') {
        await sleep(1500);
        attachment = await http.get(`/v1/attachments/${id}/info`);
    }
    if (attachment.state === 'refused') throw refused();
    return id;
}

function refused() {
    const detail = 'The file was refused by the virus scanner.';
    return new Problem({ status: 409, code: 'attachment_refused', detail });
}
