// How connections end: time-outs, clients that go away, lingering closes, drains. How they begin is in
// HTTPConnection+Admission.swift.

import NIOCore
import Synchronization

extension HTTPConnection {
    // MARK: the client's end

    func setGoneHandler(_ id: UInt32, atHalfClose: Bool, _ body: @escaping @Sendable () -> Void) {
        guard id == requestID, phase == .waiting || phase == .streaming else {
            // Answered already, or gone while this was on its way.
            if phase == .closed { loop.eventLoop.execute(body) }
            return
        }
        goneHandler = body
        isGoneAtHalfClose = atHalfClose
        // Not at once: the caller may hold a lock that `body` wants.
        if isInputClosed && atHalfClose { loop.eventLoop.execute { [handle] in handle?.connection.value.inputEnded() } }
    }

    /// What the end of the input means now. Also called again when the phase has changed since.
    func inputEnded() {
        switch phase {
        case .idle, .head, .body, .dropping:
            // Whatever was whole has been dispatched; a part of a request will never be more.
            if !isGathering { closeOnceWritten() }
        case .waiting where isGoneAtHalfClose && goneHandler != nil, .streaming where isGoneAtHalfClose:
            close()
        case .waiting, .streaming:
            deadline = min(deadline, loop.deadline(after: server.settings.halfCloseGrace))
        case .lingering:
            if isOutputClosed { close() }
        case .closed:
            break
        }
    }

    func outputEnded() {
        guard phase == .lingering else { return }
        if isInputClosed { return close() }
        deadline = loop.deadline(after: server.settings.lingerTimeout)
    }

    // MARK: our end

    /// After the last answer: our side is closed once it is written, and the client's bytes are discarded for a while.
    func startLingering() {
        guard phase != .closed, let context else { return }
        phase = .lingering
        releaseBodies()
        // Until the answer is written only `writeTimeout` applies; `outputEnded` sets the linger's.
        deadline = .distantFuture
        needsFlush = false
        context.flush()
        if isInputClosed {
            closeOnceWritten()
        } else {
            context.close(mode: .output, promise: nil)
        }
    }

    /// With the input closed, closing the output at once would drop what isn't written yet.
    private func closeOnceWritten() {
        guard let context else { return }
        phase = .lingering
        deadline = .distantFuture
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in self.close() }
        needsFlush = false
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer()), promise: written)
    }

    /// Closes now, whatever is unwritten.
    func close() {
        guard phase != .closed else { return }
        context?.close(mode: .all, promise: nil)
        finish()
    }

    /// The connection is gone: tells who waits for it, once.
    func finish() {
        guard phase != .closed else { return }
        let wasWaiting = phase == .waiting || phase == .streaming
        phase = .closed
        releaseBodies()
        handle?.isClosed.store(true, ordering: .releasing)
        handle = nil
        if slot != nil { countOut() }
        loop.remove(self)
        if wasWaiting { server.counters.clientsGone.add(1, ordering: .relaxed) }
        writableWaiter.take()?.resume(throwing: ChannelError.ioOnClosedChannel)
        goneHandler.take()?()
        streamSource.take()?.clientIsGone()
    }

    private func countOut() {
        leaveAddress()
        if isRefused {
            server.counters.connectionsRefusedOpen.subtract(1, ordering: .sequentiallyConsistent)
        } else {
            server.counters.connectionsOpen.subtract(1, ordering: .sequentiallyConsistent)
        }
        server.openGateIfDrained()
    }

    // MARK: time

    /// When the sweep is to look at it next.
    var lookTime: NIODeadline { mayHaveOutput ? .uptimeNanoseconds(0) : deadline }

    func noteLookTime() {
        if let slot { loop.note(lookTime, at: slot) }
    }

    /// Called by the loop's sweep.
    func tick() {
        if mayHaveOutput { watchOutput() }
        if loop.now >= deadline { timeOut() }
    }

    private func timeOut() {
        server.counters.timeouts.add(1, ordering: .relaxed)
        switch phase {
        case .head where isUnused, .idle, .dropping, .lingering, .waiting, .streaming: close()
        case .head: refuse(.headerTimeout)
        case .body: refuse(.bodyTimeout)
        case .closed: break
        }
    }

    /// A client must take something of what waits for it within each `writeTimeout`.
    private func watchOutput() {
        let byteCount = unsentByteCount
        guard byteCount > 0 else {
            mayHaveOutput = false
            return
        }
        // Not idle: it is still busy with the last answer.
        if phase == .idle { deadline = loop.deadline(after: server.settings.idleTimeout) }
        if writtenByteCount - byteCount > takenByteCount {
            takenByteCount = writtenByteCount - byteCount
            stalledSince = loop.now
        } else if loop.now >= stalledSince + TimeAmount(server.settings.writeTimeout) {
            server.counters.timeouts.add(1, ordering: .relaxed)
            return close()
        }
        loop.unsentByteCount += byteCount
    }

    /// The server is going: what is between requests closes now, the rest after its answer.
    func drain() {
        if isUnused || phase == .dropping { close() }
    }
}
