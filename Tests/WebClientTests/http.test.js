// Requests: what is repeated, what is not, and what refusals say.

import assert from 'node:assert/strict';
import { newID } from '../../Sources/WebClient/page/core/id.js';
import { deviceName } from '../../Sources/WebClient/page/core/sign-in.js';
import { BackOff } from '../../Sources/WebClient/page/core/http/back-off.js';
import { HTTP } from '../../Sources/WebClient/page/core/http/http.js';
import { Problem } from '../../Sources/WebClient/page/core/http/problem.js';
import './support/clock.js';

/** @typedef {() => Response | Promise<Response>} Answer */

/** A client whose requests get these answers, the last one again and again.
 * @param {Answer[]} answers */
function client(...answers) {
    /** @type {{url: string, init: RequestInit}[]} */
    const requests = [];
    const http = new HTTP({
        fetch: async (url, init = {}) => {
            requests.push({ url: String(url), init });
            return await (answers.length > 1 ? answers.shift() : answers[0])?.() ?? Response.error();
        },
    });
    http.token = 'token';
    return { http, requests };
}

/** @param {number} status @param {object} [body] @param {Record<string, string>} [headers] @returns {Answer} */
function answer(status, body, headers) {
    return () => new Response(body ? JSON.stringify(body) : null, { status, headers });
}

/** @type {Answer} */
const silence = () => Promise.reject(new TypeError('connection refused'));

Deno.test('a read is repeated after silence and after 503', async () => {
    const { http, requests } = client(silence, answer(503, { code: 'overloaded' }), answer(200, { id: 1 }));
    assert.deepEqual(await http.get('/v1/users/me', { limit: 3, page: undefined }), { id: 1 });
    assert.deepEqual(requests.map(({ url }) => url), Array(3).fill('/v1/users/me?limit=3'));
    assert.equal(new Headers(requests[0].init.headers).get('Authorization'), 'Bearer token');
});

Deno.test('a POST is sent once, and silence is a problem of status 0', async () => {
    const { http, requests } = client(silence);
    await assert.rejects(http.post('/v1/threads', {}), { status: 0, code: 'no_answer', isTemporary: true });
    assert.equal(requests.length, 1);
});

Deno.test('a long Retry-After is left to the caller', async () => {
    const { http, requests } = client(answer(429, { code: 'rate_limited' }, { 'Retry-After': '30' }));
    await assert.rejects(http.get('/v1/users'), { status: 429, retryAfter: 30 });
    assert.equal(requests.length, 1);
});

Deno.test('a DELETE that was not answered may have succeeded', async () => {
    const { http } = client(silence, answer(404, { code: 'member_not_found' }));
    assert.equal(await http.delete('/v1/threads/1/members/me'), null);
    const other = client(answer(404, { code: 'member_not_found' }));
    await assert.rejects(other.http.delete('/v1/threads/1/members/me'), { status: 404 });
});

Deno.test('an answer that breaks off is no answer', async () => {
    const broken = () => {
        const body = new ReadableStream({ pull: (stream) => stream.error(new TypeError('reset')) });
        return new Response(body, { status: 200 });
    };
    await assert.rejects(client(broken).http.post('/v1/threads', {}), { status: 0 });
});

Deno.test('a request ends at its time limit', async () => {
    const http = new HTTP({
        fetch: (_, init) =>
            new Promise((_resolve, reject) =>
                init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
            ),
    });
    await assert.rejects(http.send('GET', '/v1/sync', { seconds: 0.05 }), { status: 0 });
});

Deno.test('refusals have fields; those of a proxy have none', async () => {
    const body = {
        code: 'invalid',
        detail: 'Some fields are invalid.',
        errors: [{ field: 'name', detail: 'Too long.' }],
    };
    const { http } = client(answer(422, body), () => new Response('<h1>Bad gateway</h1>', { status: 502 }));
    await assert.rejects(http.post('/', {}), { status: 422, ...body });
    await assert.rejects(http.post('/', {}), { status: 502, code: 'http_502', errors: [], isTemporary: true });
});

Deno.test('only an ended session signs out, and only requests with its token', async () => {
    const { http } = client(
        answer(401, { code: 'wrong_credentials' }),
        answer(401, { code: 'invalid_token' }),
        answer(401, { code: 'invalid_token' }),
    );
    /** @type {string[]} */
    const ended = [];
    http.onSignedOut = (token) => ended.push(token);
    await assert.rejects(http.send('POST', '/v1/auth/login', { isAnonymous: true }), Problem);
    await assert.rejects(http.send('POST', '/v1/auth/login', { isAnonymous: true }), Problem);
    assert.deepEqual(ended, []);
    await assert.rejects(http.get('/v1/inbox'), { isSignedOut: true });
    assert.deepEqual(ended, ['token']);
});

Deno.test('waits after failures are those of the client guide', async () => {
    const text = await Deno.readTextFile(new URL('../ClientVectors/waits/waits.json', import.meta.url));
    for (const { about, watched, failures } of JSON.parse(text).cases) {
        let random = 0;
        const backOff = new BackOff({ isSeen: () => watched, random: () => random });
        for (const { status, retry_after: retryAfter, random: chance, wait_ms: wait, then } of failures) {
            random = chance;
            assert.equal(Math.round(backOff.next({ status, retryAfter })), wait, about);
            if (then === 'success') backOff.reset();
        }
    }
});

Deno.test('ids are random UUIDs, also without a secure context', () => {
    const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    assert.match(newID(), pattern);
    const randomUUID = crypto.randomUUID;
    Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
    const ids = Array.from({ length: 100 }, newID);
    Object.defineProperty(crypto, 'randomUUID', { value: randomUUID, configurable: true });
    for (const id of ids) assert.match(id, pattern);
    assert.equal(new Set(ids).size, 100);
});

Deno.test('a device is named by its browser and its system', () => {
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
    const edge = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 ' +
        'Safari/537.36 Edg/140.0.0.0';
    const safari =
        'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1';
    assert.deepEqual([firefox, edge, safari, ''].map(deviceName), [
        'Firefox, Linux',
        'Edge, Windows',
        'Safari, iPhone',
        'Browser',
    ]);
});
