import CMicroHTTPD
import Dispatch
import Foundation
import Glibc

/// A thread that accepts connections and hands them to the event loops in turn.
///
/// libmicrohttpd could accept by itself. It could then not refuse a connection with an answer, and
/// could not stop listening during requests without a race between its threads.
final class Acceptor: Sendable {
  private let socket: ListeningSocket
  private let ended = DispatchSemaphore(value: 0)

  /// Starts the thread, which owns the listening socket until ``stop()``.
  init(
    socket: ListeningSocket, loops: [ConnectionLoop], places: ConnectionPlaces,
    limits: ConnectionAdmission.Limits, server: HTTPServer
  ) {
    self.socket = socket
    let ended = ended
    let (counters, registry) = (server.counters, server.registry)
    let configuration = server.configuration
    let thread = Thread {
      var next = 0
      while let (descriptor, address, size) = Self.accept(socket.descriptor) {
        var address = address
        let (peer, text) = withUnsafePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            (PeerAddress($0), PeerAddress.text(of: $0))
          }
        }
        let isOfFile = Int32(address.ss_family) == AF_UNIX
        let refused = places.take(
          for: peer, isCapped: !isOfFile && !configuration.isProxy(text), descriptor: descriptor
        ) {
          _ = counters.connectionsEvicted.add(registry.evictIdle($1, of: $0, places))
        }
        if let refused {
          let refusal = HTTPRefusal(refused, limits.message(of: refused))
          counters.countRefusal(refused)
          refusal.send(to: descriptor, body: configuration.refusalBody(refusal))
          close(descriptor)
          continue
        }
        counters.openConnections.increment()
        next = (next + 1) % loops.count
        if !loops[next].add(descriptor, address: &address, size: size) {
          places.ticket(ofDescriptor: descriptor).map { places.giveBack($0) }
          counters.openConnections.decrement()
          counters.countRefusal(.tooManyConnections)
        }
      }
      ended.signal()
    }
    thread.name = "petrel-accept"
    thread.stackSize = 256 << 10
    thread.start()
  }

  /// Stops listening and waits for the end of the thread. Call it once.
  func stop() {
    socket.shutDown()
    ended.wait()
    socket.close()
  }

  /// Waits for the next connection; `nil` when the socket is shut down.
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
      // Without descriptors or memory the connection waits in the system's queue. The thread tries
      // again every 20 ms.
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: usleep(20_000)
      default: continue
      }
    }
  }
}

extension ConnectionAdmission.Limits {
  func message(of reason: HTTPRefusal.Reason) -> String {
    switch reason {
    case .tooManyConnectionsOfAddress:
      "this address has \(byHost) open connections, which is the limit; use one of them"
    case .tooManyConnectionsOfNetwork:
      "this network has \(byNetwork) open connections, which is the limit; try again in a moment"
    default: "\(all) connections are open, which is the limit; try again in a moment"
    }
  }
}
