import Foundation
import SQLEngine

/// The threads of an open store. They block while the engine works, so they are separate from the
/// threads that run Swift's tasks. The group counts them, so that closing the store can wait for
/// the last one.
final class ThreadGroup: @unchecked Sendable {
  private let lock = NSLock()
  /// A thread holds the lock while it closes its connection.
  private let closing = NSLock()
  /// The connections that are not closed. ``closing`` guards the number.
  private var openConnections = 0
  private let path: String?
  private let keepsServerLock: Bool
  // The lock guards the following properties.
  private var running = 0
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var serverLock: ServerLock?

  init(keeping serverLock: ServerLock?, ofStoreAt path: String?) {
    self.serverLock = serverLock
    self.path = path
    keepsServerLock = serverLock != nil
  }

  func start(
    named name: String, over connection: sending StoreConnection,
    _ work: @escaping @Sendable (StoreConnection) -> Void
  ) {
    // The connection moves to the new thread; no other reference is kept.
    nonisolated(unsafe) let connection = connection
    closing.withLock { openConnections += 1 }
    start(named: name) { [self] in
      work(connection)
      // Only one connection is closed at a time. SQLite copies the log into the database when the
      // last connection is closed. If two were closed at the same moment, each would see the other
      // as open, and neither would copy the log.
      closing.withLock {
        openConnections -= 1
        let lock = openConnections == 0 ? settleLog(over: connection.engine) : nil
        connection.engine.close()
        withExtendedLifetime(lock) {}
      }
    }
  }

  /// Removes the mark that the log must be there, so that the close of the last connection deletes
  /// the log. If it cannot be removed, the close keeps the log.
  ///
  /// - Returns: the lock of the store's file that a tool holds until it has closed the connection.
  ///   A tool removes the mark that a killed server left, unless a server uses the file.
  private func settleLog(over engine: any SQLConnection) -> ServerLock? {
    do {
      guard let path, try engine.isLogMarked else { return nil }
      let lock = keepsServerLock ? nil : try ServerLock(forStoreAt: path, attempts: 1)
      try engine.settleLog()
      return lock
    } catch {
      return nil
    }
  }

  func start(named name: String, _ work: @escaping @Sendable () -> Void) {
    lock.withLock { running += 1 }
    let thread = Thread { [self] in
      work()
      ended()
    }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
  }

  func ended() async {
    await withCheckedContinuation { continuation in
      let isOver = lock.withLock {
        if running > 0 { waiters.append(continuation) }
        return running == 0
      }
      if isOver { continuation.resume() }
    }
  }

  private func ended() {
    let resumed = lock.withLock {
      running -= 1
      guard running == 0 else { return [CheckedContinuation<Void, Never>]() }
      serverLock = nil
      defer { waiters = [] }
      return waiters
    }
    for waiter in resumed { waiter.resume() }
  }
}
