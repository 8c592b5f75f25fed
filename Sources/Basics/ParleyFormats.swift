// The formats that the client has, too, belong to the basics of the server.
@_exported import ParleyFormats
