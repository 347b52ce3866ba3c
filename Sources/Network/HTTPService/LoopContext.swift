import CMicroHTTPD

/// What the callbacks of one event loop share. Used on the loop's thread alone, once it runs.
final class LoopContext: @unchecked Sendable {
  // Unchecked: `begun` is touched by the loop's thread alone.

  /// Kept alive by itself while its loops run.
  unowned let server: HTTPServer
  /// The connection whose request line was read last.
  var begun: Connection?

  init(server: HTTPServer) { self.server = server }

  /// The library refuses the Content-Length of the request that it reads just now: it has taken note of that
  /// and is about to make its answer.
  ///
  /// That answer is in HTML, and version 0.9.75 makes its head twice (it goes on to the request's
  /// handling as if nothing were wrong). So the answer is sent here, and the library finds that nothing
  /// more can be sent. It does not say which connection it is about: the one whose header fields are there
  /// and were not asked about yet, for it does both without doing anything else between.
  func refuseLength(isTooLarge: Bool) {
    var connection = begun.flatMap { $0.hasUnaskedHead ? $0 : nil }
    // The head came in pieces, and other requests began meanwhile.
    connection = connection ?? server.registry.all.first { $0.loop === self && $0.hasUnaskedHead }
    connection?.refuseUnasked(
      isTooLarge
        ? HTTPRefusal(
          .bodyTooLarge, "the Content-Length is larger than any body may be",
          limit: server.configuration.maximumBodySize)
        : HTTPRefusal(.malformed, "the Content-Length is no number"))
  }
}
