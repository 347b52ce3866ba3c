import CMicroHTTPD

/// The object that the callbacks of one event loop share.
final class LoopContext: @unchecked Sendable {
  // Unchecked: `begun` is touched by the loop's thread alone.

  /// The server, which keeps itself alive while its loops run.
  unowned let server: HTTPServer
  /// The connection whose request line was read last.
  var begun: Connection?

  init(server: HTTPServer) { self.server = server }

  /// Refuses a request whose Content-Length libmicrohttpd refuses. The library calls this from its
  /// log, just before it creates its own answer.
  ///
  /// That answer is in HTML, and version 0.9.75 writes its head twice, because it continues as if
  /// the request were valid. So this method sends the answer to the socket and shuts it down, and
  /// the library can send no more.
  ///
  /// The log does not name the connection. The connection is the one whose head is complete and for
  /// which the library has not called yet, because the library does nothing else between these two
  /// steps.
  ///
  /// - Parameter isTooLarge: whether the number is too large; otherwise it is not a number.
  func refuseLength(isTooLarge: Bool) {
    var connection = begun.flatMap { $0.hasUnaskedHead ? $0 : nil }
    // The head came in several pieces, and other requests began meanwhile.
    connection = connection ?? server.registry.all.first { $0.loop === self && $0.hasUnaskedHead }
    connection?.refuseUnasked(
      isTooLarge
        ? HTTPRefusal(
          .bodyTooLarge, "the Content-Length is larger than the limit for a body",
          limit: server.configuration.maximumBodySize)
        : HTTPRefusal(.malformed, "the Content-Length is not a number"))
  }
}
