import CMicroHTTPD
import Dispatch
import Foundation
import Glibc

/// Accepts connections on a thread of its own and hands them to the event loops in turn.
///
/// The library can do that itself, but then it can neither refuse a connection with an answer nor
/// stop listening while requests are under way without a race between its threads.
final class Acceptor: Sendable {
  private let socket: ListeningSocket
  private let ended = DispatchSemaphore(value: 0)

  init(
    socket: ListeningSocket, loops: [EventLoop], maximumConnections: Int, counters: Counters,
    refusalBody: @escaping @Sendable (HTTPRefusal) -> Data
  ) {
    self.socket = socket
    let refusal = HTTPRefusal(
      .tooManyConnections, "\(maximumConnections) connections are open; try again in a moment")
    let ended = ended
    let thread = Thread {
      var next = 0
      while let (descriptor, address, size) = Self.accept(socket.descriptor) {
        guard counters.openConnections.reserve(1, limit: maximumConnections) else {
          counters.countRefusal(refusal.reason)
          Self.refuse(descriptor, refusal, body: refusalBody(refusal))
          continue
        }
        next = (next + 1) % loops.count
        var address = address
        if !loops[next].add(descriptor, address: &address, size: size) {
          counters.openConnections.decrement()
          counters.countRefusal(refusal.reason)
        }
      }
      ended.signal()
    }
    thread.name = "petrel-accept"
    thread.stackSize = 256 << 10
    thread.start()
  }

  /// Stops listening at once: whoever connects from now on is refused by the system. Blocks until
  /// the thread has ended; to be called once.
  func stop() {
    shutdown(socket.descriptor, Int32(SHUT_RDWR))
    ended.wait()
    socket.close()
  }

  /// The next connection; nil when the socket listens no more.
  private static func accept(_ listener: Int32) -> (Int32, sockaddr_storage, socklen_t)? {
    while true {
      var address = sockaddr_storage()
      var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let descriptor = withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          accept4(
            listener, address, &size,
            Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue))
        }
      }
      if descriptor >= 0 { return (descriptor, address, size) }
      switch errno {
      case EINVAL, EBADF, ENOTSOCK: return nil
      // Out of descriptors or memory: the connection waits in the system's queue meanwhile.
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: usleep(20_000)
      default: continue
      }
    }
  }

  /// As good as it goes without reading the request: a client that is still sending may see the
  /// connection reset instead.
  private static func refuse(_ descriptor: Int32, _ refusal: HTTPRefusal, body: Data) {
    let head =
      "HTTP/1.1 \(refusal.status) Service Unavailable\r\nContent-Type: application/json\r\n"
      + "Retry-After: \(refusal.retryAfter ?? 1)\r\nContent-Length: \(body.count)\r\n"
      + "Connection: close\r\n\r\n"
    let bytes = Array(head.utf8) + body
    _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    shutdown(descriptor, Int32(SHUT_WR))
    var scrap = [UInt8](repeating: 0, count: 4096)
    while recv(descriptor, &scrap, scrap.count, 0) > 0 {}
    close(descriptor)
  }
}
