// The records that the reducer reads and returns, and how a store uses it.
//
// The store keeps four kinds of records: threads by id, messages by thread and seq, lists of members by thread, and one
// account. `fold.js` has a function for each thing that arrives from the server:
//
//     foldEvents(events, userID, reader)          the events of one poll
//     foldInbox(threads, reader)                  a page of the inbox, or one thread of GET /v1/threads/{id}
//     foldReload(threads, staleIDs, reader)       all pages of an inbox: at the first start, and after a 410
//     foldPage(page, request, threadID, reader)   a page of messages
//     foldMessage(message, reader)                the answer of a send or an edit
//     foldMembers(members, threadID, reader)      all members of a thread
//     foldAccount(account, reader)                the own profile and the blocked people
//
// Each is a function of its arguments and of what `reader` returns, and resolves to `Changes`. A store opens one
// transaction, passes a reader of this transaction, applies the changes (and the cursor), and commits. The functions await
// the reader and nothing else, so an IndexedDB transaction stays open. `reader` never sees changes that are not applied yet:
// a `WorkingSet` holds them until the function returns.
//
// After the changes of a poll, and before the next poll, the client loads `unknownThreads`, and fetches the newest page of
// each changed thread of which `lacksLastMessage` (thread.js) is true. `holes` and `rangeAt` (ranges.js) say what a timeline has to fetch; `inboxOf` (fold.js) sorts.
//
// The store applies `Changes` in the order of their fields: first it deletes the messages of `cleared`, then it writes the
// rest; null means delete. A deleted thread is also in `cleared` and `members`. `typing` and `presence.updated` change nothing here.

/** @typedef {import('../types.js').Thread} Thread */
/** @typedef {import('../types.js').Message} Message */
/** @typedef {import('../types.js').Member} Member */
/** @typedef {import('../types.js').Person} Person */

/** A closed interval of seqs, `[first, last]`.
 * @typedef {[number, number]} Range
 */

/** A thread as the interface shows it, with what the device knows about its messages.
 *
 * `ranges`: the seqs whose messages are stored, or known to be hidden from the user. Sorted, with a gap between any two.
 * `countedSeq`: the counts include the messages up to this seq, although their events may still arrive. Only an inbox that
 * is later than the cursor sets it; an absolute count of an event resets it to 0.
 * @typedef {Thread & {last_message: Message | null, ranges: Range[], countedSeq: number}} StoredThread
 */

/** The own account. `user` has `preferences`, too.
 * @typedef {{user: Person & {preferences?: {push?: string, share_presence?: boolean}}, blocked: string[]}} Account
 */

/** An event of GET /v1/sync.
 * @typedef {{type: string, thread_id?: string, at: string, data: any}} Event
 */

/** What the reducer reads.
 * @typedef {object} Reader
 * @property {(threadID: string) => Promise<StoredThread | undefined>} thread
 * @property {() => Promise<StoredThread[]>} threads all of them
 * @property {(threadID: string, seq: number) => Promise<Message | undefined>} message
 * @property {(threadID: string, first: number, last: number) => Promise<Message | undefined>} newestMessage the stored one
 * with the highest seq in a closed interval
 * @property {(threadID: string) => Promise<Message[]>} messages all stored ones; read only when a person changes
 * @property {(threadID: string) => Promise<Member[] | undefined>} members undefined: they were never loaded
 * @property {() => Promise<Account | undefined>} account
 */

/** What the store has to write, in this order.
 * @typedef {object} Changes
 * @property {Map<string, number>} cleared by thread: delete all its messages below this seq (Infinity: all)
 * @property {Map<string, Map<number, Message | null>>} messages by thread and seq
 * @property {Map<string, StoredThread | null>} threads
 * @property {Map<string, Member[] | null>} members by thread
 * @property {Account | undefined} account undefined: not changed
 * @property {string[]} unknownThreads threads that events named and the store does not have: load each with
 * GET /v1/threads/{id} and pass it to `foldInbox`
 * @property {string[]} endedSessions devices that were signed out
 */

export {};
