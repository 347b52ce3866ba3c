import CMicroHTTPD
import Glibc

/// The library's connection. It may be suspended only from its own event loop, and resumed from
/// anywhere, once for each time; whoever holds this value sees to that.
struct NativeConnection: @unchecked Sendable {
  // Unchecked: the library's own locks guard what the pointer leads to.
  let pointer: OpaquePointer
  let descriptor: Int32

  init(_ pointer: OpaquePointer) {
    self.pointer = pointer
    descriptor = microhttpd_descriptor(pointer)
  }

  func suspend() { MHD_suspend_connection(pointer) }
  func resume() { MHD_resume_connection(pointer) }

  /// Ends both directions; the library closes the descriptor when it notices.
  func shutdown() { _ = Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Sends what the kernel holds back in the hope of more. The library announces more when it
  /// sends the headers of a stream, and the first chunk may be a long time coming.
  func pushPendingBytes() {
    var on: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Whether the peer connected to a file of this machine.
  var isOfSocketFile: Bool {
    microhttpd_client_address(pointer).map { Int32($0.pointee.sa_family) == AF_UNIX } ?? false
  }

  /// The peer's numeric address; empty where the library has none.
  var remoteAddress: String {
    microhttpd_client_address(pointer).map { PeerAddress.text(of: $0) } ?? ""
  }
}
