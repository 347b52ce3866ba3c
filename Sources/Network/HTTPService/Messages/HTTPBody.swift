import Foundation

/// The body of a response: bytes in memory, or a stream whose chunks are written over time.
public enum HTTPBody: Sendable {
  /// A body in memory, sent with its `Content-Length`.
  case data(Data)

  /// A stream of unknown length, sent in chunks. For HTTP/1.0 clients it lasts until the connection
  /// closes.
  ///
  /// The closure runs once, in a task of its own, when the client can take the first byte; the
  /// header fields are on their way by then. The stream ends when the closure returns. If the
  /// closure throws, the connection is cut, so the client can distinguish a broken stream from a
  /// complete one. The task is cancelled when the client is gone.
  ///
  /// ```swift
  /// HTTPResponse(headers: [("Content-Type", "text/event-stream")], body: .stream { writer in
  ///   for await event in events { try await writer.write(event.encoded) }
  /// })
  /// ```
  case stream(@Sendable (HTTPStreamWriter) async throws -> Void)

  /// A stream of a known number of bytes, sent with a `Content-Length`. In all else it is like
  /// ``stream(_:)``. If the closure returns early or throws, the connection is cut.
  case streamOfLength(Int, @Sendable (HTTPStreamWriter) async throws -> Void)

  /// A body without bytes.
  public static let empty = HTTPBody.data(Data())

  /// Returns a stream of the chunks of `sequence`. The server asks for the next chunk only when
  /// there is space, so a slow reader slows the sequence down.
  public static func stream<Chunks: AsyncSequence & Sendable>(of sequence: Chunks) -> HTTPBody
  where Chunks.Element == Data {
    .stream { writer in
      for try await chunk in sequence { try await writer.write(chunk) }
    }
  }
}

/// The writing end of a streamed body.
public struct HTTPStreamWriter: Sendable {
  private let send: @Sendable (Data) async throws -> Void

  /// Creates a writer that passes each chunk to `send`, for tests without sockets.
  public init(_ send: @escaping @Sendable (Data) async throws -> Void) {
    self.send = send
  }

  /// Sends a chunk, whole and without delay.
  ///
  /// The call waits while ``HTTPServer/Configuration/streamBuffer`` or more bytes are unsent,
  /// because the reader is slow. Chunks of concurrent writers do not mix, but their order is not
  /// defined.
  ///
  /// - Throws: ``HTTPServerError`` with the code `connectionClosed` when the client is gone or the
  ///   server stops, `CancellationError` when the task is cancelled.
  public func write(_ chunk: Data) async throws {
    try await send(chunk)
  }
}
