import Foundation

/// A proxy between a client and the server. It holds the bytes of one side while the test asks for
/// that.
public final class HoldingProxy: @unchecked Sendable {
  public enum Direction: Int, CaseIterable {
    /// The server does not receive the client's bytes.
    case requests
    /// The server gets requests, and its answers do not reach the client.
    case answers
  }

  /// Where the server listens.
  public enum Server {
    case port(Int)
    case socket(path: String)
  }

  public let port: Int
  private let listener: Int32
  private let server: Server
  private let condition = NSCondition()
  // All guarded by the condition.
  private var held: Set<Direction> = []
  private var heldBytes = 0
  private var sockets: Set<Int32> = []
  private var isClosed = false

  public convenience init(to serverPort: Int) throws {
    try self.init(to: .port(serverPort))
  }

  public init(to server: Server) throws {
    self.server = server
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var address = Self.loopback(port: 0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 64) == 0
          && getsockname(listener, $0, &size) == 0
      }
    }
    guard isListening else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { self.accept() }
  }

  private static func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  public func hold(_ direction: Direction) {
    condition.withLock { _ = held.insert(direction) }
  }

  public func release() {
    condition.withLock {
      held = []
      heldBytes = 0
      condition.broadcast()
    }
  }

  /// Ends all connections; new ones can be made.
  public func cut() {
    condition.withLock {
      for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  /// Whether something is being held.
  public var isHolding: Bool { condition.withLock { heldBytes > 0 } }

  public func close() {
    condition.withLock {
      isClosed = true
      held = []
      for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
      condition.broadcast()
    }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func accept() {
    while true {
      let client = Foundation.accept(listener, nil, nil)
      guard client >= 0 else { break }
      guard let server = reach() else {
        _ = Foundation.close(client)
        continue
      }
      condition.withLock { sockets.formUnion([client, server]) }
      let leaving = Leaving(client, server) { [self] in
        condition.withLock { sockets.subtract([client, server]) }
      }
      Thread.detachNewThread { self.move(from: client, to: server, .requests, leaving) }
      Thread.detachNewThread { self.move(from: server, to: client, .answers, leaving) }
    }
    _ = Foundation.close(listener)
  }

  /// A connection to the server.
  private func reach() -> Int32? {
    let socket: Int32
    let isConnected: Bool
    switch server {
    case .port(let port):
      socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.loopback(port: port)
      isConnected = withUnsafePointer(to: &address) { Self.connect(socket, to: $0) }
    case .socket(let path):
      socket = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
      isConnected = withUnsafePointer(to: &address) { Self.connect(socket, to: $0) }
    }
    if isConnected { return socket }
    _ = Foundation.close(socket)
    return nil
  }

  private static func connect<Address>(_ socket: Int32, to address: UnsafePointer<Address>) -> Bool
  {
    address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      Foundation.connect(socket, $0, socklen_t(MemoryLayout<Address>.size)) == 0
    }
  }

  private func move(from: Int32, to: Int32, _ direction: Direction, _ leaving: Leaving) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(from, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      condition.withLock {
        if held.contains(direction) { heldBytes += count }
        while held.contains(direction) && !isClosed { condition.wait() }
      }
      var sent = 0
      while sent < count {
        let step = buffer.withUnsafeBytes {
          send(to, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
        }
        guard step > 0 else { break }
        sent += step
      }
      guard sent == count else { break }
    }
    shutdown(from, Int32(SHUT_RDWR))
    shutdown(to, Int32(SHUT_RDWR))
    leaving.oneLeft()
  }

  /// Closes both sockets when neither is used any more.
  private final class Leaving: @unchecked Sendable {
    private let lock = NSLock()
    private var users = 2
    private let sockets: [Int32]
    private let forget: () -> Void

    init(_ sockets: Int32..., forget: @escaping () -> Void) {
      self.sockets = sockets
      self.forget = forget
    }

    func oneLeft() {
      lock.withLock {
        users -= 1
        guard users == 0 else { return }
        forget()
        for socket in sockets { _ = Foundation.close(socket) }
      }
    }
  }
}
