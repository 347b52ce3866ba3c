import Foundation
import Synchronization

/// A small proxy that makes tunnels, on threads of its own.
public final class SimulatedProxy: Sendable {
  /// The proxy's reaction to a request.
  public enum Behaviour: Sendable {
    case tunnel
    /// Only to who has these credentials, as they stand in the header field; others get a 407.
    case tunnelFor(String)
    /// These bytes, and then the end of the connection.
    case answer(String)
    /// Nothing, while the connection stays.
    case silence
  }

  private struct State {
    var behaviour: Behaviour
    var heads: [String] = []
    var tunnelCount = 0
  }

  private let listener: Int32
  private let state: Mutex<State>
  public let port: Int

  public init(_ behaviour: Behaviour) throws {
    state = Mutex(State(behaviour: behaviour))
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let (listener, size) = (listener, length)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 16) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard isListening else { throw CocoaError(.fileReadUnknown) }
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [self] in
      while case let client = accept(listener, nil, nil), client >= 0 {
        Thread.detachNewThread { [self] in serve(client) }
      }
    }
  }

  /// The requests' heads, in the order of their coming.
  public var heads: [String] { state.withLock(\.heads) }
  /// How many tunnels were made.
  public var tunnelCount: Int { state.withLock(\.tunnelCount) }

  /// Answers the requests that come from now on in another way.
  public func behave(_ behaviour: Behaviour) {
    state.withLock { $0.behaviour = behaviour }
  }

  public func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private func serve(_ client: Int32) {
    defer { close(client) }
    var head = ""
    while !head.hasSuffix("\r\n\r\n") {
      var byte: UInt8 = 0
      guard read(client, &byte, 1) == 1 else { return }
      head.unicodeScalars.append(Unicode.Scalar(byte))
    }
    let behaviour = state.withLock { state in
      state.heads.append(head)
      return state.behaviour
    }
    switch behaviour {
    case .silence:
      var byte: UInt8 = 0
      _ = read(client, &byte, 1)
    case .answer(let text):
      send(text, to: client)
    case .tunnelFor(let credentials)
    where !head.contains("Proxy-Authorization: \(credentials)\r\n"):
      send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", to: client)
    case .tunnel, .tunnelFor:
      tunnel(client, head)
    }
  }

  private func tunnel(_ client: Int32, _ head: String) {
    let target = head.split(separator: " ")[1].split(separator: ":")
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(server) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr(String(target[0]))
    address.sin_port = UInt16(target[1])!.bigEndian
    let isConnected = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { return send("HTTP/1.1 502 Bad Gateway\r\n\r\n", to: client) }
    state.withLock { $0.tunnelCount += 1 }
    send("HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n", to: client)
    let back = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      Self.copy(from: server, to: client)
      back.signal()
    }
    Self.copy(from: client, to: server)
    back.wait()
  }

  private func send(_ text: String, to client: Int32) {
    _ = Array(text.utf8).withUnsafeBytes { write(client, $0.baseAddress, $0.count) }
  }

  private static func copy(from: Int32, to: Int32) {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = read(from, &buffer, buffer.count), count > 0 {
      var start = 0
      while start < count {
        let written = buffer.withUnsafeBytes {
          Foundation.send(to, $0.baseAddress! + start, count - start, Int32(MSG_NOSIGNAL))
        }
        guard written > 0 else { break }
        start += written
      }
    }
    shutdown(to, Int32(SHUT_WR))
  }
}
