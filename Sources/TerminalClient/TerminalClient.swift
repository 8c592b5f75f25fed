// `parley chat`: a client for terminals, on the client library.
