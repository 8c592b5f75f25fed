// The program: keys and the client's lists come in, frames go out. What keys mean is in Screens/.
import Foundation
import Parley

/// `parley chat` while it runs.
actor Chat {
    let client: ParleyClient
    let settings: ChatSettings
    let terminal: Terminal
    var interface = Interface()
    private var writer: FrameWriter
    /// The tasks that run, by number: each belongs to a screen, or to the whole program.
    private var tasks: [Int: (screen: ScreenID?, task: Task<Void, Never>)] = [:]
    private var taskCount = 0
    /// The task of a screen that the next key replaces: a search, a search for people.
    private var lookups: [ScreenID: Task<Void, Never>] = [:]
    /// The message windows of the timelines on the stack.
    var timelines: [ScreenID: Timeline] = [:]
    /// What only writes to the local store happens in order, and completely before the program ends.
    let calls = SerialQueue()
    var drafts = PendingDrafts()
    var conversations: [Conversation] = []
    var outgoing: [MessageID: OutgoingMessage] = [:]
    var graphics = Graphics()
    /// Attachments whose links have been asked for.
    var linked: Set<AttachmentID> = []
    /// Whether a picture is in the terminal.
    var hasPicture = false
    private var painter: Task<Void, Never>?
    private var isDirty = true
    private var hasQuit = false

    /// One frame is drawn in this time at most.
    private static let frameTime = Duration.milliseconds(16)

    init(client: ParleyClient, settings: ChatSettings, terminal: Terminal, isMonochrome: Bool) {
        self.client = client
        self.settings = settings
        self.terminal = terminal
        writer = FrameWriter(isMonochrome: isMonochrome)
    }

    /// Runs until the user quits or the terminal closes.
    func run() async {
        interface.size = terminal.size
        followClient()
        await terminal.write(Graphics.question)
        paint()
        for await event in terminal.events {
            await handle(event)
            if hasQuit { break }
        }
        flushDrafts()
        let all = tasks.values.map(\.task) + lookups.values
        for task in all { task.cancel() }
        await calls.end()
        await painter?.value
        await client.close()
        for task in all { await task.value }
    }

    private func handle(_ event: TerminalEvent) async {
        switch event {
        case .input(.key(let key)):
            interface.surroundings.now = Date()
            for action in interface.handle(key) { await perform(action) }
        case .input(.report(let report)):
            graphics.note(report)
        case .resized:
            interface.size = terminal.size
            writer.forget()
        case .stopRequested: await suspend()
        case .continued:
            terminal.resume()
            interface.size = terminal.size
            writer.forget()
            client.retryNow()
        case .closed: quit()
        }
        changed()
    }

    func quit() { hasQuit = true }

    func suspend() async {
        await painter?.value
        // Returns when the shell has continued the program.
        terminal.suspend()
        try? await Task.sleep(for: .milliseconds(50))
        terminal.resume()
        redraw()
    }

    func redraw() {
        interface.size = terminal.size
        writer.forget()
        changed()
    }

    // MARK: Drawing

    /// Call it after each change of the interface.
    func changed() {
        isDirty = true
        paint()
    }

    /// Returns when the terminal shows the interface as it is now.
    func drawNow() async {
        changed()
        await painter?.value
    }

    private func paint() {
        guard painter == nil, !hasQuit else { return }
        painter = Task {
            while isDirty, !hasQuit {
                isDirty = false
                interface.surroundings.now = Date()
                let (canvas, wanted) = interface.draw()
                await terminal.write(pictureRemoval() + writer.frame(canvas))
                for action in wanted { await perform(action) }
                try? await Task.sleep(for: Self.frameTime)
            }
            painter = nil
        }
    }

    /// The picture goes with its screen.
    private func pictureRemoval() -> String {
        guard hasPicture, !(interface.top?.screen is PictureScreen) else { return "" }
        hasPicture = false
        return Graphics.removal
    }

    // MARK: Tasks

    /// Starts a task that ends with its screen; with the program if there is none.
    func start(for screen: ScreenID?, _ body: @escaping @Sendable (isolated Chat) async -> Void) {
        taskCount += 1
        let number = taskCount
        let task = Task {
            await body(self)
            tasks[number] = nil
        }
        tasks[number] = (screen, task)
    }

    /// Starts a lookup and ends the one before it.
    func lookUp(for screen: ScreenID, _ body: @escaping @Sendable (isolated Chat) async -> Void) {
        lookups[screen]?.cancel()
        lookups[screen] = Task { await body(self) }
    }

    func forget(_ screens: [ScreenID]) {
        for (screen, task) in tasks.values where screen.map(screens.contains) ?? false { task.cancel() }
        for screen in screens {
            lookups.removeValue(forKey: screen)?.cancel()
            timelines[screen] = nil
        }
        flushDrafts()
    }

    /// Follows a sequence for a screen. Its values change the interface.
    func follow<Sequence: AsyncSequence & Sendable>(
        _ sequence: Sequence, for screen: ScreenID?,
        _ body: @escaping @Sendable (isolated Chat, Sequence.Element) async -> Void
    ) where Sequence.Element: Sendable, Sequence.Failure == Never {
        start(for: screen) { chat in
            for await value in sequence {
                if Task.isCancelled { return }
                await body(chat, value)
                chat.changed()
            }
        }
    }

    /// Makes a call, and shows its error.
    func attempt(_ what: String? = nil, _ body: @escaping @Sendable () async throws -> Void) {
        start(for: nil) { chat in
            do {
                try await body()
                if let what { chat.interface.show(Notice(text: what)) }
            } catch is CancellationError {
            } catch {
                chat.interface.show(Notice(text: Self.words(error), isError: true))
            }
            chat.changed()
        }
    }

    /// The error in a sentence for users.
    static func words(_ error: any Error) -> String {
        guard let problem = (error as? ParleyError)?.problem else { return "\(error)" }
        return ([problem.detail] + problem.errors.map(\.detail)).joined(separator: " ")
    }
}

/// Does one thing after the other, and everything before it ends.
final class SerialQueue: Sendable {
    private let work: AsyncStream<@Sendable () async -> Void>.Continuation
    private let worker: Task<Void, Never>

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
        work = continuation
        worker = Task { for await job in stream { await job() } }
    }

    func add(_ job: @escaping @Sendable () async -> Void) { work.yield(job) }

    func end() async {
        work.finish()
        await worker.value
    }
}

/// Drafts that are not stored yet: typing need not write to the disk at each key.
struct PendingDrafts: Sendable {
    private(set) var texts: [ThreadID: String] = [:]

    mutating func set(_ text: String, in thread: ThreadID) { texts[thread] = text }

    mutating func takeAll() -> [ThreadID: String] {
        defer { texts = [:] }
        return texts
    }
}
