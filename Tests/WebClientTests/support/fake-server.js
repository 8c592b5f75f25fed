// A server in memory that obeys the HTTP contract as far as the core uses it, and a network that does not.

import { messageOf, partOf } from './samples.js';

/** @typedef {{id: string, username: string, name: string, profile_image: null}} User */
/** @typedef {{type: string, thread_id?: string, at: string, data: any}} Event */
/** @typedef {{id: string, kind: string, title: string | null, messages: any[], parts: Map<string, {read_seq: number,
 * unread: number}>, members: string[]}} Thread */

/** What the network does with a request. All are probabilities.
 * @typedef {{lostRequests: number, lostAnswers: number, doubled: number, delay: number}} Faults `delay`: the longest wait
 * in milliseconds, which also changes the order of answers */

const noFaults = { lostRequests: 0, lostAnswers: 0, doubled: 0, delay: 0 };

export class FakeServer {
    /** @type {Map<string, User>} */
    users = new Map();
    /** @type {Map<string, {userID: string, id: string}>} */
    sessions = new Map();
    /** @type {Map<string, Thread>} */
    threads = new Map();
    /** @type {Map<string, Event[]>} */
    logs = new Map();
    /** @type {Map<string, {bytes: Uint8Array, size: number | null, isComplete: boolean, name: string, checks: number}>} */
    uploads = new Map();
    /** Answers to give instead, by the beginning of "METHOD /path"; each once. @type {{on: string, answer: Response}[]} */
    refusals = [];
    isAway = false;
    /** What the service offers. */
    service = {
        name: 'Beans',
        registration: 'open',
        mail: false,
        push: { webpush: false },
        limits: { text_bytes: 100 },
    };
    /** Answers to requests that begin so get lost. @type {string | null} */
    lostAnswersTo = null;
    /** How often a finished upload is still being checked. */
    checks = 0;
    /** Bytes after which an upload's connection breaks, once each. @type {number[]} */
    cuts = [];
    /** "METHOD /path" of each request that arrived. @type {string[]} */
    requests = [];
    waitingPolls = 0;
    /** @type {Set<() => void>} */
    #wakers = new Set();
    #random;
    /** The log position up to which cursors have expired, by user. @type {Map<string, number>} */
    #expiry = new Map();
    /** The answer that waits for its release. @type {{on: string, release: Promise<unknown>} | null} */
    #held = null;
    /** The threads that an answer 410 names. @type {Set<Thread>} */
    #stale = new Set();
    #time = Date.parse('2026-11-21T10:00:00.000Z');

    /** @param {{faults?: Partial<Faults>, random?: () => number}} [options] */
    constructor({ faults = {}, random = Math.random } = {}) {
        /** @type {Faults} */
        this.faults = { ...noFaults, ...faults };
        this.#random = random;
    }

    /** Stands in place of `fetch`.
     * @type {typeof fetch} */
    fetch = async (input, init = {}) => {
        const { lostRequests, lostAnswers, doubled, delay } = this.faults;
        const signal = init.signal ?? new AbortController().signal;
        await this.#pause(delay, signal);
        if (this.isAway || this.#random() < lostRequests) throw new TypeError('connection refused');
        const bytes = init.body instanceof Blob ? new Uint8Array(await init.body.arrayBuffer()) : null;
        const answer = await this.#answer(String(input), init, bytes, signal);
        if (this.#random() < doubled) await this.#answer(String(input), init, bytes, signal);
        await this.#hold(`${init.method} ${input}`);
        await this.#pause(delay, signal);
        const isLost = this.lostAnswersTo !== null && `${init.method} ${input}`.startsWith(this.lostAnswersTo);
        if (isLost || this.isAway || this.#random() < lostAnswers) throw new TypeError('connection reset');
        return answer;
    };

    /** @param {string} name @returns {User} */
    addUser(name) {
        const user = { id: crypto.randomUUID(), username: name.toLowerCase(), name, profile_image: null };
        this.users.set(user.id, user);
        this.logs.set(user.id, []);
        return user;
    }

    /** @param {User[]} people @param {{title?: string, kind?: string}} [options] */
    addThread(people, { title, kind = 'group' } = {}) {
        const parts = new Map(people.map(({ id }) => [id, { read_seq: 0, unread: 0 }]));
        const members = people.map(({ id }) => id);
        /** @type {Thread} */
        const thread = { id: crypto.randomUUID(), kind, title: title ?? 'Thread', messages: [], parts, members };
        this.threads.set(thread.id, thread);
        for (const { id } of people) this.publish(id, { type: 'thread.created', ...this.#of(thread, id) });
        return thread;
    }

    /** @param {Thread} thread @param {User} sender @param {string} text @param {object} [more] */
    say(thread, sender, text, more = {}) {
        const { id: senderID, name, profile_image } = sender;
        const message = messageOf({
            id: crypto.randomUUID(),
            thread_id: thread.id,
            seq: thread.messages.length + 1,
            timestamp: this.#now(),
            sender: { id: senderID, name, profile_image },
            payload: { text },
            ...more,
        });
        thread.messages.push(message);
        for (const [userID, part] of thread.parts) {
            if (userID === senderID) Object.assign(part, { read_seq: message.seq, unread: 0 });
            else part.unread += 1;
        }
        this.tell(thread, 'message.created', message);
        return message;
    }

    /** Publishes an event to all members.
     * @param {Thread} thread @param {string} type @param {any} data */
    tell(thread, type, data) {
        for (const userID of thread.members) this.publish(userID, { type, thread_id: thread.id, data });
    }

    /** @param {string} userID @param {{type: string, thread_id?: string, data: any}} event */
    publish(userID, event) {
        this.logs.get(userID)?.push({ ...event, at: this.#now() });
        for (const wake of this.#wakers) wake();
    }

    /** Changes without events: what a client missed.
     * @param {() => void} change */
    withoutEvents(change) {
        const logs = this.logs;
        this.logs = new Map();
        change();
        this.logs = logs;
    }

    /** Makes the cursors of all devices expire; the answer names these threads.
     * @param {Thread[]} threads */
    expire(threads) {
        for (const thread of threads) this.#stale.add(thread);
        for (const [userID, log] of this.logs) {
            this.#expiry.set(userID, log.length);
            log.push({ type: 'nothing', at: this.#now(), data: {} });
        }
        for (const wake of this.#wakers) wake();
    }

    /** Ends all waiting polls without an answer, and refuses connections until `isAway` is false again. */
    goAway() {
        this.isAway = true;
        for (const wake of this.#wakers) wake();
    }

    /** @param {string} token */
    endSession(token) {
        this.sessions.delete(token);
        for (const wake of this.#wakers) wake();
    }

    /** @param {string} method and path begin so @param {number} status @param {string} code
     * @param {{retryAfter?: number, [key: string]: unknown}} [more] */
    refuseOnce(method, status, code, more = {}) {
        this.refusals.push({ on: method, answer: problem(status, code, more) });
    }

    /** @param {string} method and path begin so @param {number} status @param {object} body */
    answerOnce(method, status, body) {
        this.refusals.push({ on: method, answer: json(status, body) });
    }

    /** Delays the answer to the next request that begins with `on`. The server creates the answer before the delay.
     * @param {string} on "METHOD /path"
     * @returns {() => void} sends the answer */
    holdAnswer(on) {
        const { promise, resolve } = Promise.withResolvers();
        this.#held = { on, release: promise };
        return () => resolve(undefined);
    }

    /** @param {string} request */
    async #hold(request) {
        if (!this.#held || !request.startsWith(this.#held.on)) return;
        const { release } = this.#held;
        this.#held = null;
        await release;
    }

    #now() {
        this.#time += 1000;
        return new Date(this.#time).toISOString();
    }

    /** @param {number} most @param {AbortSignal} signal */
    #pause(most, signal) {
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => resolve(undefined), most * this.#random());
            signal.addEventListener('abort', () => {
                clearTimeout(timer);
                reject(signal.reason);
            });
        });
    }

    /** @param {string} address @param {RequestInit} init @param {Uint8Array | null} bytes @param {AbortSignal} signal
     * @returns {Promise<Response>} */
    async #answer(address, init, bytes, signal) {
        const url = new URL(address, 'http://fake');
        const method = init.method ?? 'GET';
        const path = url.pathname;
        this.requests.push(`${method} ${path}`);
        const refusal = this.refusals.findIndex(({ on }) => `${method} ${path}`.startsWith(on));
        if (refusal >= 0) return this.refusals.splice(refusal, 1)[0].answer;
        const headers = new Headers(init.headers);
        const body = typeof init.body === 'string' ? JSON.parse(init.body) : null;
        if (path === '/v1/auth/login') return this.#signIn(body);
        if (path === '/v1/service') return json(200, this.service);
        const token = headers.get('Authorization')?.slice(7) ?? '';
        const session = this.sessions.get(token);
        if (!session) return problem(401, 'invalid_token');
        const userID = session.userID;
        const route = `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, ':id')}`;
        const [id = '', second] = path.match(/[0-9a-f-]{36}/g) ?? [];
        const thread = this.threads.get(id);
        switch (route) {
            case 'GET /v1/users/me':
                return json(200, { ...this.users.get(userID), preferences: {} });
            case 'GET /v1/users/me/blocks':
                return json(200, { blocks: [], limit: 200 });
            case 'GET /v1/users/:id':
                return json(200, { ...this.users.get(id), presence: 'online', last_seen_at: null });
            case 'GET /v1/inbox':
                return this.#inbox(userID);
            case 'GET /v1/sync':
                return await this.#sync(userID, token, url.searchParams, signal);
            case 'POST /v1/sessions/current/media-cookie':
            case 'PUT /v1/threads/:id/typing':
                return new Response(null, { status: 204 });
            case 'POST /v1/auth/logout':
                this.endSession(token);
                return new Response(null, { status: 204 });
            case 'POST /v1/receipts':
                return this.#receive(userID, body.receipts);
            case 'PUT /v1/threads/:id/receipts':
                return this.#receive(userID, [{ thread_id: id, ...body }]);
            case 'PUT /v1/threads/:id/unread':
                Object.assign(thread?.parts.get(userID) ?? {}, { read_seq: 0 });
                return this.#receive(userID, [{ thread_id: id, read: body.from - 1 }]);
            case 'PUT /v1/attachments/:id':
            case 'PATCH /v1/attachments/:id/upload':
                return this.#upload(id, method, headers, bytes ?? new Uint8Array(), url.searchParams.get('name'));
            case 'HEAD /v1/attachments/:id/upload':
                return this.#offset(id);
            case 'GET /v1/attachments/:id/info':
                return json(200, this.#attachment(id));
        }
        if (!thread?.members.includes(userID)) return problem(404, 'thread_not_found');
        switch (route) {
            case 'GET /v1/threads/:id':
                return json(200, this.#of(thread, userID).data);
            case 'GET /v1/threads/:id/members':
                return json(200, { members: this.#members(thread), limit: 200 });
            case 'GET /v1/threads/:id/messages':
                return this.#page(thread, url.searchParams);
            case 'POST /v1/threads/:id/messages':
                return this.#send(thread, userID, body);
            case 'PUT /v1/threads/:id/messages/:id/reactions/%F0%9F%91%8D':
            case 'DELETE /v1/threads/:id/messages/:id/reactions/%F0%9F%91%8D':
                this.#react(thread, userID, second, method === 'PUT');
                return new Response(null, { status: 204 });
            case 'GET /v1/threads/:id/messages/:id': {
                const message = thread.messages.find((message) => message.id === second);
                return message ? json(200, message) : problem(404, 'message_not_found');
            }
        }
        return problem(404, 'not_found');
    }

    /** @param {Thread} thread @param {string} userID @param {string} messageID @param {boolean} put */
    #react(thread, userID, messageID, put) {
        const message = thread.messages.find(({ id }) => id === messageID);
        const emoji = '👍';
        const count = (message.reactions[emoji]?.count ?? 0) + (put ? 1 : -1);
        message.reactions = count > 0 ? { [emoji]: { count } } : {};
        this.tell(thread, 'reaction.updated', {
            message_id: messageID,
            seq: message.seq,
            user_id: userID,
            emoji,
            put,
            count,
        });
    }

    /** @param {{username: string}} body */
    #signIn({ username }) {
        const user = [...this.users.values()].find((user) => user.username === username);
        if (!user) return problem(401, 'wrong_credentials');
        const token = crypto.randomUUID();
        const id = crypto.randomUUID();
        this.sessions.set(token, { userID: user.id, id });
        return json(200, { user, session: { id, token, device_name: null } });
    }

    /** @param {Thread} thread @param {string} userID a whole `thread.created` */
    #of(thread, userID) {
        const part = thread.parts.get(userID) ?? { read_seq: 0, unread: 0 };
        const last = thread.messages.at(-1) ?? null;
        const other = thread.members.find((id) => id !== userID) ?? userID;
        const data = {
            id: thread.id,
            kind: thread.kind,
            title: thread.title,
            image: null,
            peer: thread.kind === 'direct' ? this.users.get(other) : null,
            retention: { keep: 'forever' },
            member_count: thread.members.length,
            members: this.#members(thread),
            last_message: last,
            unread_count: part.unread,
            mention_count: 0,
            last_activity_at: last?.timestamp ?? '2026-11-21T10:00:00.000Z',
            head: thread.messages.length,
            me: partOf(part.read_seq),
        };
        return { thread_id: thread.id, data };
    }

    /** @param {Thread} thread */
    #members(thread) {
        return thread.members.map((id) => ({
            user: this.users.get(id),
            role: 'member',
            status: 'joined',
            read_seq: thread.parts.get(id)?.read_seq ?? 0,
            delivered_seq: 0,
            read_at: null,
            delivered_at: null,
            joined_at: null,
        }));
    }

    /** @param {string} userID */
    #inbox(userID) {
        const own = [...this.threads.values()].filter(({ members }) => members.includes(userID));
        const threads = own.map((thread) => {
            const { members: _members, ...data } = this.#of(thread, userID).data;
            return data;
        });
        const unread_total = threads.reduce((sum, { unread_count }) => sum + unread_count, 0);
        return json(200, { threads, unread_total, cursor: String(this.logs.get(userID)?.length ?? 0) });
    }

    /** @param {string} userID @param {string} token @param {URLSearchParams} query @param {AbortSignal} signal */
    async #sync(userID, token, query, signal) {
        const from = Number(query.get('cursor'));
        const log = this.logs.get(userID) ?? [];
        const end = Date.now() + Number(query.get('wait') ?? 25) * 1000;
        this.waitingPolls += 1;
        while (log.length === from && Date.now() < end && !signal.aborted && this.sessions.has(token) && !this.isAway) {
            await new Promise((resolve) => {
                const wake = () => {
                    clearTimeout(timer);
                    this.#wakers.delete(wake);
                    resolve(undefined);
                };
                const timer = setTimeout(wake, end - Date.now());
                this.#wakers.add(wake);
                signal.addEventListener('abort', wake);
            });
        }
        this.waitingPolls -= 1;
        signal.throwIfAborted();
        if (!this.sessions.has(token)) return problem(401, 'invalid_token');
        if (from <= (this.#expiry.get(userID) ?? -1)) {
            const threads = [...this.#stale].map(({ id, messages }) => ({ id, head: messages.length }));
            return problem(410, 'cursor_expired', { cursor: String(log.length), threads });
        }
        const events = log.slice(from, from + Number(query.get('limit') ?? 100));
        const cursor = from + events.length;
        return json(200, { events, cursor: String(cursor), more: cursor < log.length });
    }

    /** @param {Thread} thread @param {URLSearchParams} query */
    #page(thread, query) {
        const limit = Number(query.get('limit') ?? 30);
        const after = query.get('after');
        const before = query.get('before');
        const head = thread.messages.length;
        if (after !== null) {
            const messages = thread.messages.slice(Number(after), Number(after) + limit);
            return json(200, { messages, head, end: Number(after) + limit >= head });
        }
        const last = before === null ? head : Number(before) - 1;
        const first = Math.max(0, last - limit);
        return json(200, { messages: thread.messages.slice(first, last), head, end: first === 0 });
    }

    /** @param {Thread} thread @param {string} userID @param {any} body */
    #send(thread, userID, body) {
        for (const { messages } of this.threads.values()) {
            const known = messages.find(({ id }) => id === body.id);
            if (known) {
                return JSON.stringify(known.body) === JSON.stringify(body)
                    ? json(200, known)
                    : problem(409, 'id_taken');
            }
        }
        for (const { id } of body.payload.attachments ?? []) {
            if (this.#attachment(id)?.state !== 'ready') return problem(409, 'attachment_not_ready');
        }
        const sender = /** @type {User} */ (this.users.get(userID));
        const { id, type, payload, reply_to = null, mentions = [] } = body;
        return json(201, this.say(thread, sender, '', { id, type, payload, reply_to, mentions, body }));
    }

    /** @param {string} userID @param {{thread_id: string, read: number}[]} receipts */
    #receive(userID, receipts) {
        let refusal = null;
        for (const { thread_id, read } of receipts) {
            const thread = this.threads.get(thread_id);
            const part = thread?.parts.get(userID);
            if (!thread || !part) {
                refusal ??= problem(404, 'thread_not_found');
                continue;
            }
            if (read <= part.read_seq) continue;
            part.read_seq = read;
            part.unread = thread.messages.slice(read).filter(({ sender }) => sender.id !== userID).length;
            const data = {
                user_id: userID,
                read_seq: read,
                delivered_seq: read,
                read_at: this.#now(),
                mention_count: 0,
            };
            this.tell(thread, 'receipt.updated', { ...data, delivered_at: data.read_at, unread_count: part.unread });
        }
        return refusal ?? new Response(null, { status: 204 });
    }

    /** @param {string} id @param {string} method @param {Headers} headers @param {Uint8Array} bytes
     * @param {string | null} name */
    #upload(id, method, headers, bytes, name) {
        const known = this.uploads.get(id);
        const isLast = headers.get('Upload-Complete') !== '?0';
        const offset = method === 'PATCH' ? Number(headers.get('Upload-Offset')) : 0;
        if (method === 'PATCH' && !known) return problem(404, 'attachment_not_found');
        if (known?.isComplete) return method === 'PATCH' ? problem(409, 'upload_complete') : problem(409, 'id_taken');
        if (method === 'PATCH' && known && offset !== known.bytes.length) return problem(409, 'upload_offset_mismatch');
        const upload = {
            bytes: known && method === 'PATCH' ? joined(known.bytes, bytes) : bytes,
            size: null,
            isComplete: false,
            name: name ?? known?.name ?? '',
            checks: this.checks,
        };
        this.uploads.set(id, upload);
        const cut = this.cuts.find((place) => offset < place && place < upload.bytes.length);
        if (cut !== undefined) {
            this.cuts.splice(this.cuts.indexOf(cut), 1);
            upload.bytes = upload.bytes.slice(0, cut);
            throw new TypeError('connection reset');
        }
        if (!isLast) {
            const more = { 'Upload-Offset': String(upload.bytes.length), 'Upload-Complete': '?0' };
            return new Response(null, { status: method === 'PATCH' ? 204 : 201, headers: more });
        }
        upload.isComplete = true;
        return json(201, this.#attachment(id));
    }

    /** @param {string} id */
    #offset(id) {
        const upload = this.uploads.get(id);
        if (!upload) return problem(404, 'attachment_not_found');
        const headers = {
            'Upload-Offset': String(upload.bytes.length),
            'Upload-Complete': upload.isComplete ? '?1' : '?0',
        };
        return new Response(null, { status: 204, headers });
    }

    /** @param {string} id */
    #attachment(id) {
        const upload = this.uploads.get(id);
        if (!upload) return null;
        const state = !upload.isComplete ? 'receiving' : upload.checks > 0 ? 'checking' : 'ready';
        upload.checks -= 1;
        return {
            id,
            name: upload.name,
            content_type: 'text/plain',
            size: upload.bytes.length,
            state,
            thumbnail: false,
        };
    }
}

/** @param {number} status @param {unknown} body */
function json(status, body) {
    return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });
}

/** @param {number} status @param {string} code @param {{retryAfter?: number, [key: string]: unknown}} [more] */
function problem(status, code, { retryAfter, ...more } = {}) {
    /** @type {Record<string, string>} */
    const headers = { 'Content-Type': 'application/problem+json' };
    if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
    return new Response(JSON.stringify({ status, code, detail: code, ...more }), { status, headers });
}

/** @param {Uint8Array} first @param {Uint8Array} second */
function joined(first, second) {
    const bytes = new Uint8Array(first.length + second.length);
    bytes.set(first);
    bytes.set(second, first.length);
    return bytes;
}
