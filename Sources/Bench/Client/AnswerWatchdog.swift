// How long a run waits for a server that has stopped answering.

/// Calls `giveUp` on the loop's thread once nothing was answered for so many seconds, and then no more. It ends when
/// nothing holds it any more.
final class AnswerWatchdog {
    private let loop: EventLoop
    private let seconds: Double
    private let giveUp: () -> Void
    private var answeredAt = MonotonicTime.now

    init(_ loop: EventLoop, seconds: Double, giveUp: @escaping () -> Void) {
        self.loop = loop
        self.seconds = seconds
        self.giveUp = giveUp
        watch()
    }

    func answered() { answeredAt = .now }

    private func watch() {
        loop.schedule(at: answeredAt + seconds) { [weak self] in
            guard let self else { return }
            if .now >= answeredAt + seconds { giveUp() } else { watch() }
        }
    }
}
