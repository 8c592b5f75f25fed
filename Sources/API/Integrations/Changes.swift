// GET /v1/admin/changes: the log as integrations see it.
import Domain
import Store

extension Change {
    /// The event as the feed shows it, on one line.
    var json: [UInt8] {
        var text = #"{"id":"\#(id)","type":"\#(type)""#
        if let thread { text += #","thread_id":"\#(thread)""# }
        text += #","at":"\#(at)""#
        if let actor { text += #","actor":"\#(actor)""# }
        text += #","data":"#
        var bytes = Array(text.utf8)
        bytes.append(contentsOf: data.utf8)
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
