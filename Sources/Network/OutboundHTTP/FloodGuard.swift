import CCurl
import COpenSSL

/// Ends connections whose servers send without end what is part of no answer.
///
/// libcurl reads a connection of HTTP/2 until something for the request at hand comes or nothing more
/// lies there, whatever the request's time (7.88 to 8.0). A server that sends PRIORITY frames, or ones of
/// no known type, faster than they are read would keep the one thread of a client for good, as would one
/// that sends session tickets from OpenSSL. Neither has a limit for it. So the guard counts the bytes of
/// TLS that a connection receives in one call of libcurl.
///
/// Lives on the client's thread, and longer than all its connections.
final class FloodGuard {
  /// Bytes that a connection may receive in one call of libcurl. The answers to as many requests as go to
  /// one origin at a time are less, and so is what it reads of a large one before it returns.
  static let limit = 8 << 20

  private var received: [OpaquePointer: Int] = [:]

  /// Begins to count anew, for libcurl has returned.
  func reset() {
    if !received.isEmpty { received.removeAll(keepingCapacity: true) }
  }

  /// Has connections counted whose requests have these options.
  func watch(_ easy: UnsafeMutableRawPointer) -> CURLcode {
    petrel_curl_set_tls_callback(easy, Unmanaged.passUnretained(self).toOpaque(), Self.watchTLS)
  }

  private static let watchTLS: petrel_curl_tls_callback = { _, context, guardian in
    guard let context, let guardian else { return CURLE_FAILED_INIT }
    petrel_ssl_context_set_message_callback(OpaquePointer(context), takeMessage, guardian)
    return CURLE_OK
  }

  private static let takeMessage: petrel_ssl_message_callback = {
    isWritten, _, type, bytes, count, ssl, guardian in
    guard isWritten == 0, type == SSL3_RT_HEADER, count >= 5, let bytes, let ssl, let guardian
    else { return }
    // The length of the record that follows (RFC 8446, section 5.1).
    let length = Int(bytes.loadUnaligned(fromByteOffset: 3, as: UInt16.self).bigEndian)
    Unmanaged<FloodGuard>.fromOpaque(guardian).takeUnretainedValue().take(length, from: ssl)
  }

  private func take(_ length: Int, from ssl: OpaquePointer) {
    let count = received[ssl, default: 0] + length
    received[ssl] = count
    if count > Self.limit { petrel_ssl_break_off(ssl) }
  }
}
