import CCurl
import COpenSSL

/// The limit on bytes that a server sends without end and that belong to no answer. The guard ends
/// such a connection.
///
/// libcurl (7.88 to 8.0) reads an HTTP/2 connection until bytes for its request come or the socket
/// is empty, without a look at the request's time. A server can send PRIORITY frames, or frames of
/// unknown types, faster than libcurl reads them. It would then keep the client's one thread for
/// ever. Session tickets of TLS do the same to OpenSSL. Neither library has a limit.
///
/// So the guard counts the bytes of TLS records that a connection receives in one call of libcurl.
/// It is used on the client's thread only and outlives all its connections.
final class FloodGuard {
  /// The bytes that a connection may receive in one call of libcurl. Answers to all requests that
  /// one origin may have at a time are smaller. So is the part of a large answer that libcurl reads
  /// before it returns.
  static let limit = 8 << 20

  /// The bytes by connection, since the last reset.
  private var received: [OpaquePointer: Int] = [:]

  /// Starts the count again, because libcurl has returned.
  func reset() {
    if !received.isEmpty { received.removeAll(keepingCapacity: true) }
  }

  /// Counts the bytes of connections that libcurl opens for this transfer.
  func watch(_ easy: UnsafeMutableRawPointer) -> CURLcode {
    petrel_curl_set_tls_callback(easy, Unmanaged.passUnretained(self).toOpaque(), Self.watchTLS)
  }

  /// Runs when libcurl has created the TLS context of a connection.
  private static let watchTLS: petrel_curl_tls_callback = { _, context, guardian in
    guard let context, let guardian else { return CURLE_FAILED_INIT }
    petrel_ssl_context_set_message_callback(OpaquePointer(context), takeMessage, guardian)
    return CURLE_OK
  }

  /// Runs for each message of TLS; the guard looks at the headers of received records.
  private static let takeMessage: petrel_ssl_message_callback = {
    isWritten, _, type, bytes, count, ssl, guardian in
    guard isWritten == 0, type == SSL3_RT_HEADER, count >= 5, let bytes, let ssl, let guardian
    else { return }
    // The length of the record that follows (RFC 8446 section 5.1).
    let length = Int(bytes.loadUnaligned(fromByteOffset: 3, as: UInt16.self).bigEndian)
    Unmanaged<FloodGuard>.fromOpaque(guardian).takeUnretainedValue().take(length, from: ssl)
  }

  /// Counts a record and breaks a connection over the limit.
  private func take(_ length: Int, from ssl: OpaquePointer) {
    let count = received[ssl, default: 0] + length
    received[ssl] = count
    if count > Self.limit { petrel_ssl_break_off(ssl) }
  }
}
