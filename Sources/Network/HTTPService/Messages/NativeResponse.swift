import CMicroHTTPD
import Foundation

/// A handler's answer that cannot be sent as it is.
struct InvalidResponse: Error {
  var reason: String

  var response: HTTPResponse {
    HTTPResponse(
      status: 500, headers: [("Content-Type", "text/plain; charset=utf-8")],
      body: .data(Data("The answer cannot be sent: \(reason)\n".utf8)))
  }
}

/// The library's response; let go of when this value is queued.
struct NativeResponse: ~Copyable {
  private let pointer: OpaquePointer

  static func make(
    _ response: HTTPResponse, to method: String, stream: ResponseStream?, closing: Bool
  ) throws(InvalidResponse) -> NativeResponse {
    guard (200...599).contains(response.status) else {
      throw InvalidResponse(reason: "its status is \(response.status), which is not 200 to 599")
    }
    guard let pointer = create(response.body, stream: stream) else {
      throw InvalidResponse(reason: "there is no memory for it")
    }
    let native = NativeResponse(pointer: pointer)
    for (name, value) in response.headers where !isOurs(name) {
      guard mayBeSent(name, value), microhttpd_add_header(pointer, name, value) else {
        throw InvalidResponse(
          reason: "the header field \(name.debugDescription) has a name or value not allowed")
      }
    }
    if case .stream = response.body, method == "HEAD" || response.status == 304 {
      // The library would send the mark for the end of a chunked body, though there is no body.
      microhttpd_never_chunk(pointer)
    }
    if closing { _ = microhttpd_add_header(pointer, "Connection", "close") }
    return native
  }

  deinit { MHD_destroy_response(pointer) }

  consuming func queue(on connection: NativeConnection, status: Int) -> Bool {
    MHD_queue_response(connection.pointer, UInt32(status), pointer) == microhttpd_result(true)
  }

  private static func create(_ body: HTTPBody, stream: ResponseStream?) -> OpaquePointer? {
    switch body {
    case .data(let data):
      return data.withUnsafeBytes { microhttpd_response_copying($0.baseAddress, $0.count) }
    case .stream, .streamOfLength:
      guard let stream else { return nil }
      let context = Unmanaged.passRetained(stream)
      let pointer = microhttpd_response_reading(
        length(of: body),
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

  /// How long a body is, and how it is sent, the server knows best.
  private static func isOurs(_ name: String) -> Bool {
    name.equalsIgnoringASCIICase("Content-Length")
      || name.equalsIgnoringASCIICase("Transfer-Encoding")
  }

  /// The library refuses line breaks; this refuses what else a field may not hold
  /// (RFC 9110, section 5.5), a NUL above all, for it would cut the value off.
  private static func mayBeSent(_ name: String, _ value: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
