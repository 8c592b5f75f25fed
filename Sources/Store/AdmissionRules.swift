// Bounds on joining threads and on adding people to them.
import Domain
import Postgres

/// Bounds on joining threads, and on adding others to them.
package struct AdmissionRules: Sendable {
    /// How many threads an account may have; nil: any number.
    package var threadCountMax: Int?
    package var strangers: StrangerRule
    /// The caller's bucket for new threads; nil: no limit.
    package var newThreads: SharedBucket?
    /// The caller's bucket for adding people who share no thread with them; nil: no limit.
    package var additions: SharedBucket?

    package init(
        threadCountMax: Int? = nil, strangers: StrangerRule = .join, newThreads: SharedBucket? = nil,
        additions: SharedBucket? = nil
    ) {
        self.threadCountMax = threadCountMax
        self.strangers = strangers
        self.newThreads = newThreads
        self.additions = additions
    }
}

extension AdmissionRules {
    var threadCountMax32: Int32? { threadCountMax.map { Int32($0) } }

    /// In the order of the SQL functions: new threads, then additions. Both or none.
    var buckets: [SharedBucket] { [newThreads, additions].compactMap(\.self) }
}
