import Foundation
import SQLEngine

/// The threads of an open store.
///
/// A thread that has a connection closes this connection when the thread's work ends. The group
/// counts the threads, so that closing the store can wait for the last thread. These threads block
/// while the engine works. Therefore they are separate from the threads that run Swift's tasks.
final class ThreadGroup: @unchecked Sendable {
  private let lock = NSLock()
  /// The lock that a thread holds while it closes its connection.
  private let closing = NSLock()
  /// The number of connections of threads that are not closed. ``closing`` guards it.
  private var openConnections = 0
  /// The path of the store's file; nil for a store that is not in a file.
  private let path: String?
  /// Whether the group keeps the lock of the store's file until the last thread has ended.
  private let keepsServerLock: Bool
  // The lock guards the following properties.
  /// The number of threads that have not ended.
  private var running = 0
  /// The tasks that wait for the end of the last thread.
  private var waiters: [CheckedContinuation<Void, Never>] = []
  /// The lock that keeps other servers from opening the store's file. The lock is released when the
  /// last thread has ended.
  private var serverLock: ServerLock?

  /// Creates a group without threads.
  ///
  /// - Parameters:
  ///   - serverLock: the lock of the store's file, which the group releases when the last thread has
  ///     ended; nil if the store needs no lock.
  ///   - path: the path of the store's file; nil for a store that is not in a file.
  init(keeping serverLock: ServerLock?, ofStoreAt path: String?) {
    self.serverLock = serverLock
    self.path = path
    keepsServerLock = serverLock != nil
  }

  /// Starts a thread with a connection of its own.
  ///
  /// - Parameters:
  ///   - name: the thread's name, for debuggers and profilers.
  ///   - connection: the connection, which is closed when `work` returns.
  ///   - work: the thread's work, usually a loop that takes jobs until the queue is closed.
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
  /// - Returns: the lock of the store's file that a tool holds until it has closed the connection. A
  ///   tool removes the mark that a killed server left, unless a server uses the file.
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

  /// Starts a thread, and counts it until it ends.
  ///
  /// The thread has a stack of 1 MiB.
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

  /// Waits until every thread has ended. The method returns at once if no thread runs.
  func ended() async {
    await withCheckedContinuation { continuation in
      let isOver = lock.withLock {
        if running > 0 { waiters.append(continuation) }
        return running == 0
      }
      if isOver { continuation.resume() }
    }
  }

  /// Counts the end of the calling thread. The last thread releases the lock of the store's file,
  /// and resumes all waiting tasks.
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
