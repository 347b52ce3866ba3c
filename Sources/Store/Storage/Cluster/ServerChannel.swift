import Foundation
import SQLEngine
import StoreModel
import Synchronization

/// The sender and receiver of notifications between the servers of a store, by PostgreSQL's
/// `NOTIFY`.
///
/// A notification is sent after its commit, in a transaction of its own on the connection of the
/// ``ClusterService``, because PostgreSQL serializes the commits of transactions with
/// notifications.
///
/// Notifications only save time. A server that gets none finds the same facts when it reads the
/// tables. A mutex guards the state, so all methods may be called from any thread.
final class ServerChannel: Sendable {
  /// A function that gets each notification. The handler runs on the listener's thread and must not
  /// block.
  typealias Handler = @Sendable (ServerNotification) -> Void

  /// The state that threads share.
  private struct State {
    /// Servers that wait for a wake-up notification.
    var sleeping: Set<ServerID> = []
    /// The connection that receives; nil without a handler, and after ``ServerChannel/close()``.
    var listener: ServerNotificationListener?
    var isClosed = false
  }

  private let address: PostgreSQLAddress
  private let queue: JobQueue
  private let identity: ServerIdentity
  /// The channel that all servers of the store listen to: `petrel_` and the number of the store's
  /// PostgreSQL schema. Each server also has a channel of its own, with its ID at the end.
  private let channel: String
  private let state = Mutex(State())

  /// - Parameters:
  ///   - connection: a connection to the store, of which only the address is used.
  ///   - queue: the queue of the connection over which notifications are sent.
  init(
    at address: PostgreSQLAddress, over connection: any SQLConnection, queue: JobQueue,
    identity: ServerIdentity
  ) throws {
    self.address = address
    self.queue = queue
    self.identity = identity
    let schema = try connection.first(
      "SELECT oid::int8 FROM pg_namespace WHERE nspname = current_schema()", []
    ) { $0.integer(0) }
    channel = "petrel_\(schema ?? 0)"
  }

  // MARK: Receiving

  /// Sets the handler of notifications, which are received on a thread of their own; nil ends the
  /// thread.
  ///
  /// A new handler gets a new listener with its own connection and thread. The former listener is
  /// closed; its handler may still get notifications for a moment.
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

  /// Makes the listener listen to the channel of this server's new ID.
  func identityChanged() { state.withLock { $0.listener }?.wake() }

  /// Ends the listener's thread. Later calls of ``setHandler(_:in:)`` start none.
  func close() {
    let listener = state.withLock { state in
      state.isClosed = true
      defer { state.listener = nil }
      return state.listener
    }
    listener?.close()
  }

  // MARK: Sending

  /// Wakes up servers. Never blocks; wake-ups requested meanwhile are sent together.
  ///
  /// The writers call it after their commits.
  func wakeUp(_ servers: Set<ServerID>) {
    let isFirst = state.withLock { state in
      defer { state.sleeping.formUnion(servers) }
      return state.sleeping.isEmpty
    }
    if isFirst { queue.add(WakingUp(self)) }
  }

  /// Returns the servers that wait for a wake-up notification, and empties the set.
  fileprivate func takeSleeping() -> Set<ServerID> {
    state.withLock { state in
      defer { state.sleeping = [] }
      return state.sleeping
    }
  }

  /// Sends a wake-up to the own channel of each server, by one statement.
  fileprivate func wakeUp(_ servers: Set<ServerID>, in transaction: StoreTransaction) throws {
    let channels = servers.map { "\(channel)_\($0.rawValue)" }.sorted()
    try transaction.connection.run(
      "SELECT pg_notify(name, $2) FROM unnest(string_to_array($1, ' ')) AS name",
      [.text(channels.joined(separator: " ")), .text(ServerNotification.wakeUp.payload)])
  }

  /// Sends a notification to all servers.
  ///
  /// This server gets it too. A transaction of its own sends it at once.
  func send(_ notification: ServerNotification, in transaction: StoreTransaction) throws {
    try transaction.connection.run(
      "SELECT pg_notify($1, $2)", [.text(channel), .text(notification.payload)])
  }
}

/// A job that wakes up all servers in `sleeping` at the time it runs.
private final class WakingUp: StoreJob {
  let gathersWrites = false
  private let channel: ServerChannel
  /// The servers that a first run took; a repeated run wakes them too.
  private let taken = Mutex<Set<ServerID>>([])

  init(_ channel: ServerChannel) {
    self.channel = channel
  }

  /// Sends the wake-ups. The job may run twice, if the connection was lost.
  func run(in transaction: StoreTransaction) throws {
    let servers = taken.withLock { taken in
      taken.formUnion(channel.takeSleeping())
      return taken
    }
    if !servers.isEmpty { try channel.wakeUp(servers, in: transaction) }
  }

  /// Ends the job. If it failed, the servers that wait meanwhile are dropped: servers that get no
  /// notification find the changes when they read the tables.
  func finish(_ failure: (any Error)?) {
    if failure != nil { _ = channel.takeSleeping() }
  }
}
