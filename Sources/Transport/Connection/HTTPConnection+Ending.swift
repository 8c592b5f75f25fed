// How connections end: clients that leave, closes that wait for the client, timeouts, drains.

import NIOCore
import Synchronization

extension HTTPConnection {
    // MARK: The client's end

    /// Registers what to call if the client goes away before the answer to request `id`.
    func setGoneHandler(_ id: UInt32, _ handler: GoneHandler) {
        switch phase {
        case .waiting(var request) where request.id == id:
            request.goneHandler = handler
            phase = .waiting(request)
        case .streaming(var request, let body) where request.id == id:
            request.goneHandler = handler
            phase = .streaming(request, body)
        case .closed:
            return loop.eventLoop.execute(handler.run)
        default:
            return  // Answered already.
        }
        // Later, because the caller may hold a lock that the handler needs.
        if isInputClosed && handler.isCalledAtHalfClose {
            loop.eventLoop.execute { [reference] in reference?.connection.value.inputEnded() }
        }
    }

    /// Applies the end of the input to the current phase. Called again when the phase has changed.
    func inputEnded() {
        queue.upload?.fail(.clientGone)
        switch phase {
        case .new, .idle, .head, .body, .dropping:
            // Every complete request has been dispatched, and an incomplete one will never be complete.
            if !isGathering { closeOnceWritten() }
        case .waiting(let request) where request.endsAtHalfClose: close()
        case .streaming(let request, let body) where request.endsAtHalfClose || body.source != nil: close()
        case .waiting, .streaming:
            deadline = min(deadline, loop.deadline(after: server.settings.halfCloseGrace))
        case .lingering:
            if isOutputClosed { close() }
        case .closed:
            break
        }
    }

    func outputEnded() {
        guard phase.isLingering else { return }
        if isInputClosed { return close() }
        deadline = loop.deadline(after: server.settings.lingerTimeout)
    }

    // MARK: The server's end

    /// Closes the sending side once the last answer is written, and discards input for a while.
    func startLingering() {
        guard !phase.isClosed, let context else { return }
        // Until the answer is written only `writeTimeout` applies. `outputEnded` sets the other deadline.
        enter(.lingering, timeout: nil)
        releaseBodies()
        needsFlush = false
        context.flush()
        if isInputClosed {
            closeOnceWritten()
        } else {
            context.close(mode: .output, promise: nil)
        }
    }

    /// Closes after all bytes are written. With the input closed, closing the output at once would drop them.
    private func closeOnceWritten() {
        guard let context else { return }
        enter(.lingering, timeout: nil)
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in self.close() }
        needsFlush = false
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer()), promise: written)
    }

    /// Closes now and drops unwritten bytes.
    func close() {
        guard !phase.isClosed else { return }
        context?.close(mode: .all, promise: nil)
        finish()
    }

    /// Releases everything after the connection has closed, and notifies those who wait for the client. Does so once.
    func finish() {
        let last = phase
        guard !last.isClosed else { return }
        phase = .closed
        releaseBodies()
        reference?.isClosed.store(true, ordering: .releasing)
        reference = nil
        if slot != nil { countOut() }
        loop.remove(self)
        switch last {
        case .waiting(let request):
            server.counters.clientsGone.add(1, ordering: .relaxed)
            request.goneHandler?.run()
        case .streaming(let request, let body):
            server.counters.clientsGone.add(1, ordering: .relaxed)
            body.writableWaiter.take()?.resume(throwing: ChannelError.ioOnClosedChannel)
            request.goneHandler?.run()
            body.source?.clientIsGone()
        case .new, .head, .body, .idle, .dropping, .lingering, .closed: break
        }
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

    /// Closes a connection between requests, because the server drains. Others close after their answer. Uploads stop.
    func drain() {
        queue.upload?.fail(.stopping)
        switch phase {
        case .new, .dropping: close()
        case .idle where queue.hasNothing: close()
        case .idle, .head, .body, .waiting, .streaming, .lingering, .closed: break
        }
    }

    // MARK: Time

    /// When the sweep must look at this connection next.
    var lookTime: NIODeadline { output.mayHaveOutput ? .uptimeNanoseconds(0) : deadline }

    func updateLookTime() {
        if let slot { loop.setLookTime(lookTime, at: slot) }
    }

    /// Called by the loop's sweep.
    func tick() {
        if output.mayHaveOutput { checkOutput() }
        if loop.now >= deadline { timeOut() }
    }

    private func timeOut() {
        if let upload = queue.upload, !isInputClosed { return checkUpload(upload) }
        server.counters.timeouts.add(1, ordering: .relaxed)
        switch phase {
        case .head: refuse(.headerTimeout)
        case .body: refuse(.bodyTimeout)
        case .new, .idle, .dropping, .lingering, .waiting, .streaming: close()
        case .closed: break
        }
    }

    /// Closes the connection if its client has read nothing for `writeTimeout`.
    private func checkOutput() {
        let byteCount = unsentByteCount
        let timeout = TimeAmount(server.settings.writeTimeout)
        let state = output.check(unsentByteCount: byteCount, now: loop.now, timeout: timeout)
        if state == .empty { return updateLookTime() }
        // Not idle: the last answer is still being sent.
        if phase.isIdle { deadline = loop.deadline(after: server.settings.idleTimeout) }
        if state == .stalled {
            server.counters.timeouts.add(1, ordering: .relaxed)
            return close()
        }
        loop.unsentByteCount += byteCount
    }
}
