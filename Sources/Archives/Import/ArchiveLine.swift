// One line of an archive, read and checked by itself. LineParser.swift reads it.
import Domain
import Store

package enum ArchiveLine: Sendable {
    /// The first line of an archive, which says nothing that is kept.
    case header
    case message(ImportedMessage)
    case chunk(ImportedChunk)
    /// Any other line, as a row of its staging table.
    case row(ImportTable, JSONValue)
    case end
}

/// The types of lines, as archives write them.
package enum ArchiveLineType: String, WordField {
    case archive, user, block, thread, member, message
    case messageVersion = "message_version"
    case reaction, receipt
    case hiddenMessage = "hidden_message"
    case attachment
    case attachmentData = "attachment_data"
    case end
}
