// Parley as its users meet it: the built executable, real processes, curl. Nothing of the service's targets is
// imported. The suites are in the folders, one subject each.

import Testing

/// One after the other: they kill nodes, stop databases and bound how long things take.
@Suite("The service from outside", .serialized)
struct SystemTests {}
