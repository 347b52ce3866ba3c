import CMicroHTTPD
import Foundation

/// The error of a handler's answer that cannot be sent.
struct InvalidResponse: Error {
  /// The broken rule, as the end of a sentence.
  var reason: String

  var response: HTTPResponse {
    HTTPResponse(
      status: 500, headers: [("Content-Type", "text/plain; charset=utf-8")],
      body: .data(Data("The answer cannot be sent: \(reason)\n".utf8)))
  }
}

/// libmicrohttpd's form of a response. The value owns it and releases it after it is queued.
struct NativeResponse: ~Copyable {
  private let pointer: OpaquePointer

  /// Creates the library's response.
  ///
  /// - Parameter progress: records the steps in which a large body in memory is sent.
  /// - Throws: ``InvalidResponse`` for a status or field that cannot be sent, or without memory.
  static func make(
    _ response: HTTPResponse, to method: String, stream: ResponseStream?,
    progress: @escaping @Sendable (Pace.Event) -> Void, closing: Bool
  ) throws(InvalidResponse) -> NativeResponse {
    guard (200...599).contains(response.status) else {
      throw InvalidResponse(reason: "its status is \(response.status), which is not 200 to 599")
    }
    guard let pointer = create(response.body, stream: stream, progress) else {
      throw InvalidResponse(reason: "there is not enough memory")
    }
    let native = NativeResponse(pointer: pointer)
    for (name, value) in response.headers where !isOurs(name) {
      guard mayBeSent(name, value), microhttpd_add_header(pointer, name, value) else {
        throw InvalidResponse(
          reason: "the header field \(name.debugDescription) has an invalid name or value")
      }
    }
    if case .stream = response.body, method == "HEAD" || response.status == 304 {
      // The library would send the end mark of a chunked body, although there is no body.
      microhttpd_never_chunk(pointer)
    }
    if closing { _ = microhttpd_add_header(pointer, "Connection", "close") }
    return native
  }

  deinit { MHD_destroy_response(pointer) }

  /// Gives the response to the library; `false` when the library refuses it.
  consuming func queue(on connection: NativeConnection, status: Int) -> Bool {
    MHD_queue_response(connection.pointer, UInt32(status), pointer) == microhttpd_result(true)
  }

  /// The size of pieces in bytes. The library gets a body in memory of at most this size as a whole,
  /// and reads a larger one in pieces.
  private static let pieceSize = 64 << 10

  /// Whether the library reads the body in pieces, so that the server sees how the client takes it.
  static func isReadInPieces(_ data: Data) -> Bool { data.count > pieceSize }

  private static func create(
    _ body: HTTPBody, stream: ResponseStream?, _ progress: @escaping @Sendable (Pace.Event) -> Void
  ) -> OpaquePointer? {
    switch body {
    case .data(let data) where isReadInPieces(data):
      let context = Unmanaged.passRetained(AnswerBytes(data, progress))
      let pointer = microhttpd_response_reading(
        UInt64(data.count), pieceSize,
        { context, offset, target, count in
          guard let context, let target else { return microhttpd_end_with_error() }
          return Unmanaged<AnswerBytes>.fromOpaque(context).takeUnretainedValue()
            .read(at: Int(offset), into: UnsafeMutableRawBufferPointer(start: target, count: count))
        }, context.toOpaque(),
        { context in
          guard let context else { return }
          Unmanaged<AnswerBytes>.fromOpaque(context).release()
        })
      if pointer == nil { context.release() }
      return pointer
    case .data(let data):
      return data.withUnsafeBytes { microhttpd_response_copying($0.baseAddress, $0.count) }
    case .stream, .streamOfLength:
      guard let stream else { return nil }
      let context = Unmanaged.passRetained(stream)
      let pointer = microhttpd_response_reading(
        length(of: body), 4096,
        { context, _, target, count in
          guard let context, let target else { return microhttpd_end_with_error() }
          return Unmanaged<ResponseStream>.fromOpaque(context).takeUnretainedValue()
            .read(into: UnsafeMutableRawBufferPointer(start: target, count: count))
        }, context.toOpaque(),
        { context in
          guard let context else { return }
          Unmanaged<ResponseStream>.fromOpaque(context).takeRetainedValue().cut()
        })
      if pointer == nil { context.release() }
      return pointer
    }
  }

  private static func length(of body: HTTPBody) -> UInt64 {
    if case .streamOfLength(let count, _) = body { return UInt64(max(0, count)) }
    return microhttpd_unknown_size()
  }

  /// Whether the server sets the field itself.
  private static func isOurs(_ name: String) -> Bool {
    name.equalsIgnoringASCIICase("Content-Length")
      || name.equalsIgnoringASCIICase("Transfer-Encoding")
  }

  /// Whether a field can be sent: its name has only visible ASCII without a colon, and its value
  /// has no control character. The library refuses only line breaks, but RFC 9110 section 5.5
  /// forbids other control characters too. A NUL, above all, would cut the value off. A tab is
  /// refused too, although the RFC permits it.
  private static func mayBeSent(_ name: String, _ value: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
