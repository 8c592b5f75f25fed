// A file that imports TestSupport also sees TestBasics, which the tests of the client use without the server.

@_exported import TestBasics
