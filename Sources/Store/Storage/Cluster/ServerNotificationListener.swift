import CLinuxEvents
import Foundation
import SQLEngine
import StoreModel

/// A receiver of the notifications of other servers, with its own connection and thread. When the
/// connection is lost, the listener connects again.
///
/// Unchecked: ``lock`` guards `isClosed`, the only state that changes.
final class ServerNotificationListener: @unchecked Sendable {
  private let address: PostgreSQLAddress
  private let channel: String
  private let identity: ServerIdentity
  /// Gets ``ServerNotification/interrupted`` when the connection is lost.
  private let handler: ServerChannel.Handler
  private let lock = NSLock()
  private var isClosed = false
  /// An `eventfd` that ends the thread's waiting; -1 if the system had no descriptor left.
  private let alarm: Int32

  /// In seconds. Each failure first doubles the delay, so the first wait is twice `first`.
  private static let delays = (first: 0.2, last: 5.0)

  init(
    to address: PostgreSQLAddress, channel: String, identity: ServerIdentity,
    handler: @escaping ServerChannel.Handler
  ) {
    self.address = address
    self.channel = channel
    self.identity = identity
    self.handler = handler
    // The result is -1 if no descriptor is available. The thread then waits in short intervals.
    alarm = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
  }

  deinit {
    if alarm >= 0 { Foundation.close(alarm) }
  }

  func wake() {
    var one: UInt64 = 1
    _ = write(alarm, &one, 8)
  }

  func close() {
    lock.withLock { isClosed = true }
    wake()
  }

  private var isEnded: Bool { lock.withLock { isClosed } }

  /// Receives notifications until the listener is closed. The handler gets
  /// ``ServerNotification/interrupted`` after each lost or failed connection, and at the end.
  func work() {
    var delay = Self.delays.first
    while !isEnded {
      do {
        let connection = try PostgreSQLConnection(to: address)
        defer { connection.close() }
        delay = Self.delays.first
        try listen(on: connection)
      } catch {
        // The error is not reported: the server polls the tables meanwhile, and the metrics show
        // that it receives no notifications.
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
        // A payload that cannot be read is of another program or of a later version.
        guard let notification = ServerNotification(payload: payload) else { continue }
        // The server does not need its own announcements.
        if case .announced(let name, _) = notification, name.server == own?.rawValue { continue }
        handler(notification)
      }
      wait(on: connection.socket)
      try connection.receive()
    }
  }

  /// Waits until data arrives on a socket or ``wake()`` is called.
  ///
  /// - Parameters:
  ///   - socket: -1 waits for ``wake()`` or the time alone.
  ///   - seconds: nil for no limit. Without an `eventfd`, such a wait ends after 0.2 seconds.
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
