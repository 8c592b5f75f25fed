// The hosts of a connection string, in whatever order they are to be tried.

import CLibpq

/// libpq's `host`, `hostaddr` and `port`, each with an entry a host, separated by commas; one port may stand for all.
struct HostList {
    private let lists: [(key: String, values: [Substring])]

    /// What a malformed string holds is nobody's business here: it counts as one host.
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

    /// The same hosts, beginning with the one at an index: words that take the place of the string's own. None for the
    /// order that they are in.
    func words(from first: Int) -> [(String, String)] {
        guard first > 0 else { return [] }
        return lists.filter { $0.values.count == count }.map { key, values in
            (key, (values[first...] + values[..<first]).joined(separator: ","))
        }
    }
}
