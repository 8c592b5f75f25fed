// Parley as its users meet it: the built executable, real processes, curl. Nothing of the service's targets is
// imported. The suites are in the folders, one subject each.

import Testing

/// Serialized, because suites kill nodes, stop databases and limit durations.
@Suite("The service from outside", .serialized)
struct SystemTests {}
