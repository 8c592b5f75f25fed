// The hosts of a connection string, in the order in which to try them.

import CLibpq

/// libpq's `host`, `hostaddr` and `port`: lists separated by commas with one entry per host. One port may serve all
/// hosts.
struct HostList {
    private let lists: [(key: String, values: [Substring])]

    /// A malformed string counts as one host. libpq reports the mistake.
    init(conninfo: String) {
        guard let options = PQconninfoParse(conninfo, nil) else {
            lists = []
            return
        }
        defer { PQconninfoFree(options) }
        var lists: [(key: String, values: [Substring])] = []
        var option = options
        while let keyword = option.pointee.keyword {
            let key = String(cString: keyword)
            if ["host", "hostaddr", "port"].contains(key), let value = option.pointee.val {
                lists.append((key, String(cString: value).split(separator: ",", omittingEmptySubsequences: false)))
            }
            option += 1
        }
        self.lists = lists
    }

    var count: Int { lists.map(\.values.count).max() ?? 1 }

    /// Keywords that replace the string's own, with the same hosts beginning at an index. Empty if the order does not
    /// change.
    func words(from first: Int) -> [(String, String)] {
        guard first > 0 else { return [] }
        return lists.filter { $0.values.count == count }.map { key, values in
            (key, (values[first...] + values[..<first]).joined(separator: ","))
        }
    }
}
