import Foundation
import SQLEngine
import StoreModel
import Synchronization

/// The sender and receiver of notifications between the servers of a store, by PostgreSQL's
/// `NOTIFY`.
///
/// A notification is sent after its commit, in a transaction of its own on the connection of the
/// ``ClusterService``: PostgreSQL runs the commits of transactions with notifications one after the
/// other. Notifications only save time. A server that misses one finds the same facts in the
/// tables.
final class ServerChannel: Sendable {
  /// Runs on the listener's thread and must not block.
  typealias Handler = @Sendable (ServerNotification) -> Void

  /// The state behind the mutex.
  private struct State {
    var sleeping: Set<ServerID> = []
    /// Nil without a handler, and after ``ServerChannel/close()``.
    var listener: ServerNotificationListener?
    var isClosed = false
  }

  private let address: PostgreSQLAddress
  private let queue: JobQueue
  private let identity: ServerIdentity
  /// The channel of all servers: `petrel_` and the object ID of the store's PostgreSQL schema. Each
  /// server also listens to a channel of its own: the same name, `_` and the server's ID.
  private let channel: String
  private let state = Mutex(State())

  init(
    at address: PostgreSQLAddress, over connection: any SQLConnection, queue: JobQueue,
    identity: ServerIdentity
  ) throws {
    self.address = address
    self.queue = queue
    self.identity = identity
    let schema = try connection.integer(
      "SELECT oid::int8 FROM pg_namespace WHERE nspname = current_schema()", [])
    channel = "petrel_\(schema ?? 0)"
  }

  // MARK: Receiving

  /// The former handler may still get notifications for a moment.
  func setHandler(_ handler: Handler?, in threads: ThreadGroup) {
    let former = state.withLock { state in
      let former = state.listener
      state.listener =
        if let handler, !state.isClosed {
          ServerNotificationListener(
            to: address, channel: channel, identity: identity, handler: handler)
        } else {
          nil
        }
      if let listener = state.listener {
        threads.start(named: "petrel.store.notifications") { listener.work() }
      }
      return former
    }
    former?.close()
  }

  func identityChanged() { state.withLock { $0.listener }?.wake() }

  func close() {
    let listener = state.withLock { state in
      state.isClosed = true
      defer { state.listener = nil }
      return state.listener
    }
    listener?.close()
  }

  // MARK: Sending

  /// One statement sends all wake-ups that are requested until the job runs.
  func wakeUp(_ servers: Set<ServerID>) {
    let isFirst = state.withLock { state in
      defer { state.sleeping.formUnion(servers) }
      return state.sleeping.isEmpty
    }
    if isFirst { queue.add(WakingUp(self)) }
  }

  fileprivate func takeSleeping() -> Set<ServerID> {
    state.withLock { state in
      defer { state.sleeping = [] }
      return state.sleeping
    }
  }

  fileprivate func wakeUp(_ servers: Set<ServerID>, in transaction: StoreTransaction) throws {
    let channels = servers.map { "\(channel)_\($0.rawValue)" }.sorted()
    try transaction.connection.run(
      "SELECT pg_notify(name, $2) FROM unnest(string_to_array($1, ' ')) AS name",
      [.text(channels.joined(separator: " ")), .text(ServerNotification.wakeUp.payload)])
  }

  /// The statement is a transaction of its own, so PostgreSQL sends the notification at once.
  func send(_ notification: ServerNotification, in transaction: StoreTransaction) throws {
    try transaction.connection.run(
      "SELECT pg_notify($1, $2)", [.text(channel), .text(notification.payload)])
  }
}

/// Sends a wake-up to all servers that are in ``ServerChannel``'s set when the job runs.
private final class WakingUp: StoreJob {
  private let channel: ServerChannel
  /// The servers that a first run removed from the set. A repeated run sends them a wake-up again.
  private let taken = Mutex<Set<ServerID>>([])

  init(_ channel: ServerChannel) {
    self.channel = channel
  }

  func run(in transaction: StoreTransaction) throws {
    let servers = taken.withLock { taken in
      taken.formUnion(channel.takeSleeping())
      return taken
    }
    if !servers.isEmpty { try channel.wakeUp(servers, in: transaction) }
  }

  /// After a failure the servers get no notifications. They find the changes in the tables.
  func finish(_ failure: (any Error)?) {
    if failure != nil { _ = channel.takeSleeping() }
  }
}
