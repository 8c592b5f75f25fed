// Parley as its users meet it: the built executable, real processes, curl. Nothing of Sources is imported here.
// The suites are in the other files, one subject each.

import Testing

/// One after the other: they kill nodes, stop databases and bound how long things take.
@Suite("Parley from outside", .serialized)
struct SystemTests {}
