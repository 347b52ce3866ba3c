import Foundation

/// The store's threads. Each that has a connection owns it, and closes it when its work ends.
final class ThreadGroup: @unchecked Sendable {
  private let lock = NSLock()
  private let closing = NSLock()
  // Guarded by the lock.
  private var running = 0
  private var waiters: [CheckedContinuation<Void, Never>] = []
  /// Given up when the last thread has ended.
  private var serverLock: ServerLock?

  init(keeping serverLock: ServerLock?) {
    self.serverLock = serverLock
  }

  func start(
    named name: String, over connection: sending StoreConnection,
    _ work: @escaping @Sendable (StoreConnection) -> Void
  ) {
    // The connection is handed to the new thread, and nobody else keeps it.
    nonisolated(unsafe) let connection = connection
    start(named: name) { [closing] in
      work(connection)
      // In turn: connections that close at the same moment each take another for the last, and none
      // would copy the log into the database.
      closing.withLock { connection.engine.close() }
    }
  }

  /// Starts a thread that looks after itself.
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
