// Ends a run whose server has stopped answering.

/// Calls `giveUp` once on the loop's thread when nothing was answered for the given seconds. The watchdog ends when it
/// is released.
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
