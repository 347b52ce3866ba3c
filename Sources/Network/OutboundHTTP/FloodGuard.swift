import CCurl
import COpenSSL

/// The protection against a server that sends useless bytes without end. The guard breaks a
/// connection that receives more than ``limit`` bytes in one call of libcurl, the C library for
/// HTTP.
///
/// libcurl (7.88 to 8.0) reads an HTTP/2 connection until bytes for its request come or the socket
/// is empty. Meanwhile it does not check the time limit of the request. A server can send PRIORITY
/// frames, or frames of unknown types, faster than libcurl reads them. The call would never end,
/// and the client has only one thread. With session tickets of TLS, a server can do the same to
/// OpenSSL. Neither library has a limit.
///
/// So the guard counts the bytes of the TLS records that each connection receives during one call.
/// Connections without TLS are not counted. The guard is used on the thread of its ``HTTPClient``
/// only, and lives longer than the client's connections.
final class FloodGuard {
  /// The number of bytes that a connection may receive in one call of libcurl. The answers to all
  /// requests under way to one origin have fewer bytes together, with the default limits. The part
  /// of a large answer that libcurl reads in one call is also smaller.
  static let limit = 8 << 20

  /// The bytes that each connection, by its object in OpenSSL, received since the last reset.
  private var received: [OpaquePointer: Int] = [:]

  /// Sets all counts to zero. The client calls this method after each call of libcurl.
  func reset() {
    if !received.isEmpty { received.removeAll(keepingCapacity: true) }
  }

  /// Counts the bytes of the connections that libcurl opens for a transfer.
  func watch(_ easy: UnsafeMutableRawPointer) -> CURLcode {
    petrel_curl_set_tls_callback(easy, Unmanaged.passUnretained(self).toOpaque(), Self.watchTLS)
  }

  /// Runs when libcurl has created the TLS context of a connection.
  private static let watchTLS: petrel_curl_tls_callback = { _, context, guardian in
    guard let context, let guardian else { return CURLE_FAILED_INIT }
    petrel_ssl_context_set_message_callback(OpaquePointer(context), takeMessage, guardian)
    return CURLE_OK
  }

  /// Runs for each TLS message of a connection. The guard reads the length of each received record
  /// from the record's header.
  private static let takeMessage: petrel_ssl_message_callback = {
    isWritten, _, type, bytes, count, ssl, guardian in
    guard isWritten == 0, type == SSL3_RT_HEADER, count >= 5, let bytes, let ssl, let guardian
    else { return }
    // The length of the record that follows (RFC 8446 section 5.1).
    let length = Int(bytes.loadUnaligned(fromByteOffset: 3, as: UInt16.self).bigEndian)
    Unmanaged<FloodGuard>.fromOpaque(guardian).takeUnretainedValue().take(length, from: ssl)
  }

  /// Counts the bytes of a record, and breaks the connection when its count is above ``limit``.
  private func take(_ length: Int, from ssl: OpaquePointer) {
    let count = received[ssl, default: 0] + length
    received[ssl] = count
    if count > Self.limit { petrel_ssl_break_off(ssl) }
  }
}
