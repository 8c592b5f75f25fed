// Sends one answer, or one piece of a stream, to many connections: one hop to each event loop and one rendering there.

import NIOCore

/// Sends each answer to all of its replies.
package func sendAll(_ answers: [(response: OutboundResponse, replies: [Reply])]) {
    typealias Target = (reference: ConnectionReference, id: UInt32)
    var batches: [(executor: LoopTaskExecutor, answers: [(response: OutboundResponse, targets: [Target])])] = []
    for (response, replies) in answers {
        var targets: [[Target]] = Array(repeating: [], count: batches.count)
        for reply in replies where reply.claim() && !reply.isClientGone {
            let executor = reply.reference.executor
            // There are as many batches as event loops: a handful.
            let index = batches.firstIndex { $0.executor === executor } ?? batches.count
            if index == batches.count {
                batches.append((executor, []))
                targets.append([])
            }
            targets[index].append((reply.reference, reply.id))
        }
        for (index, targets) in targets.enumerated() where !targets.isEmpty {
            batches[index].answers.append((response, targets))
        }
    }
    for batch in batches {
        batch.executor.eventLoop.execute {
            for (response, targets) in batch.answers {
                var shared: SharedAnswer?
                for (reference, id) in targets where !reference.isClosed.load(ordering: .relaxed) {
                    reference.connection.value.answer(id, response, sharing: &shared)
                }
            }
        }
    }
}

/// Sends each piece on all of its streams. Pieces are not empty, and each stream has a source.
package func sendAll(_ pieces: [(bytes: ByteBuffer, streams: [ResponseStream])]) {
    typealias Batch = (executor: LoopTaskExecutor, sends: [(piece: StreamPiece, streams: [ResponseStream])])
    var batches: [Batch] = []
    for (bytes, streams) in pieces where !streams.isEmpty {
        let piece = StreamPiece(bytes)
        var streamsOf: [[ResponseStream]] = Array(repeating: [], count: batches.count)
        for stream in streams where !stream.reference.isClosed.load(ordering: .relaxed) {
            let executor = stream.reference.executor
            let index = batches.firstIndex { $0.executor === executor } ?? batches.count
            if index == batches.count {
                batches.append((executor, []))
                streamsOf.append([])
            }
            streamsOf[index].append(stream)
        }
        for (index, streams) in streamsOf.enumerated() where !streams.isEmpty {
            batches[index].sends.append((piece, streams))
        }
    }
    for batch in batches {
        batch.executor.eventLoop.execute {
            for (piece, streams) in batch.sends {
                for stream in streams where !stream.reference.isClosed.load(ordering: .relaxed) {
                    stream.reference.connection.value.sendPiece(stream.id, piece)
                }
            }
        }
    }
}
