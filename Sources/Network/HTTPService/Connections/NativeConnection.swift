import CMicroHTTPD
import Glibc

/// A reference to libmicrohttpd's connection.
///
/// Only its event loop may suspend it. Any thread may resume it, once for each suspension;
/// ``ExchangeState`` and ``StreamState`` ensure that.
struct NativeConnection: @unchecked Sendable {
  // Unchecked: the library's own locks guard what the pointer leads to.
  let pointer: OpaquePointer
  let descriptor: Int32

  /// Wraps the library's pointer, which is valid while the connection is open.
  init(_ pointer: OpaquePointer) {
    self.pointer = pointer
    descriptor = microhttpd_descriptor(pointer)
  }

  func suspend() { MHD_suspend_connection(pointer) }
  func resume() { MHD_resume_connection(pointer) }

  /// Ends both directions of the socket. The library closes the descriptor when it notices.
  func shutdown() { _ = Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Sends the bytes that the kernel holds back. With the head of a stream, the library announces
  /// more bytes to the kernel, but the first chunk may come much later.
  func pushPendingBytes() {
    var on: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Whether the client has closed the connection, or its half of it.
  var isPeerClosed: Bool {
    var state = pollfd(fd: descriptor, events: microhttpd_poll_peer_closed, revents: 0)
    return poll(&state, 1, 0) > 0
  }

  var isOfSocketFile: Bool {
    microhttpd_client_address(pointer).map { Int32($0.pointee.sa_family) == AF_UNIX } ?? false
  }

  var remoteAddress: String {
    microhttpd_client_address(pointer).map { PeerAddress.text(of: $0) } ?? ""
  }
}
