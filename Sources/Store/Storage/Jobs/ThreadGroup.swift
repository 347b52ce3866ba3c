import Foundation

/// The store's threads. A thread owns its connection, if it has one, and closes it when its work
/// ends.
final class ThreadGroup: @unchecked Sendable {
  private let lock = NSLock()
  private let closing = NSLock()
  // Guarded by the lock.
  private var running = 0
  private var waiters: [CheckedContinuation<Void, Never>] = []
  /// Released when the last thread has ended.
  private var serverLock: ServerLock?

  init(keeping serverLock: ServerLock?) {
    self.serverLock = serverLock
  }

  func start(
    named name: String, over connection: sending StoreConnection,
    _ work: @escaping @Sendable (StoreConnection) -> Void
  ) {
    // The connection moves to the new thread; no other reference is kept.
    nonisolated(unsafe) let connection = connection
    start(named: name) { [closing] in
      work(connection)
      // One at a time: if two connections closed at the same moment, each would see the other as
      // open, and neither would copy the log into the database.
      closing.withLock { connection.engine.close() }
    }
  }

  /// Starts a thread, and counts it until it ends.
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

  /// Waits until every thread has ended.
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
