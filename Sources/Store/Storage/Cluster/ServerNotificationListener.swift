import CLinuxEvents
import Foundation
import SQLEngine
import StoreModel

/// A connection over which a server receives the notifications of others, with a thread of its own that waits for
/// them. One that is lost is made anew.
///
/// Unchecked: what others than the thread touch is behind a lock.
final class ServerNotificationListener: @unchecked Sendable {
  private let address: PostgreSQLAddress
  private let channel: String
  private let identity: ServerIdentity
  private let handler: ServerChannel.Handler
  private let lock = NSLock()
  private var isClosed = false
  /// Ends the thread's waiting.
  private let alarm: Int32

  /// Seconds until a lost connection is made anew, the first time and at most.
  private static let delays = (first: 0.2, last: 5.0)

  init(
    to address: PostgreSQLAddress, channel: String, identity: ServerIdentity,
    handler: @escaping ServerChannel.Handler
  ) {
    self.address = address
    self.channel = channel
    self.identity = identity
    self.handler = handler
    // Where there are no descriptors left it is -1: then waiting goes in short turns.
    alarm = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
  }

  deinit {
    if alarm >= 0 { Foundation.close(alarm) }
  }

  /// Has the thread look for what has changed.
  func wake() {
    var one: UInt64 = 1
    _ = write(alarm, &one, 8)
  }

  /// Ends the thread's work, soon.
  func close() {
    lock.withLock { isClosed = true }
    wake()
  }

  private var isEnded: Bool { lock.withLock { isClosed } }

  /// Receives notifications until it is closed.
  func work() {
    var delay = Self.delays.first
    while !isEnded {
      do {
        let connection = try PostgreSQLConnection(to: address)
        defer { connection.close() }
        delay = Self.delays.first
        try listen(on: connection)
      } catch {
        // That nothing is heard shows in the metrics, and by polling everything is found.
        delay = min(delay * 2, Self.delays.last)
      }
      handler(.interrupted)
      if !isEnded { wait(on: -1, atMost: delay) }
    }
  }

  private func listen(on connection: PostgreSQLConnection) throws {
    try connection.execute("LISTEN \(channel)")
    var own: ServerID?
    while !isEnded {
      let current = identity.current
      if current != own {
        if let own { try connection.execute("UNLISTEN \(channel)_\(own.rawValue)") }
        if let current { try connection.execute("LISTEN \(channel)_\(current.rawValue)") }
        own = current
      }
      while let payload = connection.nextPayload() {
        // Those that cannot be read are of other programs.
        guard let notification = ServerNotification(payload: payload) else { continue }
        // What this server tells it knows.
        if case .announced(let name, _) = notification, name.server == own?.rawValue { continue }
        handler(notification)
      }
      wait(on: connection.socket)
      try connection.receive()
    }
  }

  /// Waits until something has come on a socket, or ``wake()`` is called.
  private func wait(on socket: Int32, atMost seconds: Double? = nil) {
    var waited = [
      pollfd(fd: alarm, events: Int16(POLLIN), revents: 0),
      pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
    ]
    let shortTurn = alarm < 0 ? Self.delays.first : nil
    let time = (seconds ?? shortTurn).map { Int32($0 * 1_000) } ?? -1
    guard poll(&waited, 2, time) > 0, waited[0].revents != 0 else { return }
    var count: UInt64 = 0
    _ = read(alarm, &count, 8)
  }
}
