import Foundation

/// The body of a response: bytes that are there, or a stream that is written as it comes.
public enum HTTPBody: Sendable {
  case data(Data)

  /// A stream of unknown length, sent in chunks (to HTTP/1.0 clients: until the connection closes).
  ///
  /// The closure runs once, in a task of its own, when the client is ready for the first byte; the
  /// headers are on their way by then. The stream ends when the closure returns. If it throws, the
  /// connection is cut, so that the client can tell a broken stream from one that is complete. The
  /// task is cancelled when the client is gone.
  ///
  /// ```swift
  /// HTTPResponse(headers: [("Content-Type", "text/event-stream")], body: .stream { writer in
  ///   for await event in events { try await writer.write(event.encoded) }
  /// })
  /// ```
  case stream(@Sendable (HTTPStreamWriter) async throws -> Void)

  /// A stream of so many bytes, sent with a `Content-Length`. As ``stream(_:)`` otherwise: when the
  /// closure returns early or throws, the connection is cut.
  case streamOfLength(Int, @Sendable (HTTPStreamWriter) async throws -> Void)

  public static let empty = HTTPBody.data(Data())

  /// A stream of the chunks of `sequence`. The next chunk is asked for only when there is room for
  /// it, so a slow reader slows the sequence down.
  public static func stream<Chunks: AsyncSequence & Sendable>(of sequence: Chunks) -> HTTPBody
  where Chunks.Element == Data {
    .stream { writer in
      for try await chunk in sequence { try await writer.write(chunk) }
    }
  }
}

/// Where the chunks of a streamed body are written.
public struct HTTPStreamWriter: Sendable {
  private let send: @Sendable (Data) async throws -> Void

  /// A writer that gives each chunk to `send`, as a test without sockets needs it.
  public init(_ send: @escaping @Sendable (Data) async throws -> Void) {
    self.send = send
  }

  /// Hands over a chunk; it goes out whole and at once.
  ///
  /// Waits while more than ``HTTPServer/Configuration/streamBuffer`` bytes are unsent because the
  /// reader is slow: that is the back-pressure. Chunks of concurrent writers do not mix, but their
  /// order is not defined.
  ///
  /// - Throws: ``HTTPServerError`` with the code `connectionClosed` when the client is gone or the
  ///   server stops, `CancellationError` when the task is cancelled.
  public func write(_ chunk: Data) async throws {
    try await send(chunk)
  }
}
