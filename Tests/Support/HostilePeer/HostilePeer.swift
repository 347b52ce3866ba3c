import Cryptography
import Foundation
import Synchronization

/// A server on this machine that does with each connection what a script says: with TLS as it should be
/// or not, and then with any bytes.
///
/// Each connection has a thread of its own, on which its script runs, and is cut when that ends.
public final class HostilePeer: Sendable {
  public typealias Script = @Sendable (HostileConnection) throws -> Void

  private struct State {
    var sockets: [Int: Int32] = [:]
    var accepted = 0
    var sent = 0
    var isOver = false
  }

  public let port: Int
  private let listener: Int32
  private let state = Mutex(State())
  private let group = DispatchGroup()

  /// - Parameter certificate: what it shows, unless the script has another.
  public init(_ certificate: ServerCertificate, _ script: @escaping Script) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 64) == 0
          && getsockname(listener, $0, &size) == 0
      }
    }
    guard isListening else { throw HostileConnection.Ended(reason: "no port: \(errno)") }
    self.listener = listener
    port = Int(UInt16(bigEndian: address.sin_port))
    work { [self] in
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        serve(descriptor, certificate, script)
      }
    }
  }

  private func work(_ body: @escaping @Sendable () -> Void) {
    group.enter()
    Thread.detachNewThread { [group] in
      body()
      group.leave()
    }
  }

  private func serve(
    _ descriptor: Int32, _ certificate: ServerCertificate, _ script: @escaping Script
  ) {
    let number: Int? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.accepted += 1
      state.sockets[state.accepted] = descriptor
      return state.accepted
    }
    guard let number else {
      close(descriptor)
      return
    }
    work { [self] in
      let connection = HostileConnection(
        number: number, descriptor: descriptor, certificate: certificate
      ) { count in self.state.withLock { $0.sent += count } }
      // A script ends when its connection does.
      try? script(connection)
      state.withLock { state in
        state.sockets[number] = nil
        close(descriptor)
      }
    }
  }

  /// Connections so far.
  public var accepted: Int { state.withLock(\.accepted) }
  /// Connections whose script goes on.
  public var open: Int { state.withLock(\.sockets.count) }
  /// Bytes that it could send on all connections.
  public var sent: Int { state.withLock(\.sent) }

  /// Cuts all connections there are.
  public func cut() {
    state.withLock { state in
      for socket in state.sockets.values { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  /// Cuts all connections, and waits for their scripts.
  public func stop() {
    state.withLock { $0.isOver = true }
    cut()
    shutdown(listener, Int32(SHUT_RDWR))
    group.wait()
    close(listener)
  }
}
