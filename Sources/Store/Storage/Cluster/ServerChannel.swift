import Foundation
import SQLEngine
import StoreModel
import Synchronization

/// Exchanges notifications with the other servers of a store by PostgreSQL's `NOTIFY`.
///
/// A notification is sent after its commit, in a transaction of its own on the connection of the
/// ``ClusterService``, because PostgreSQL serializes the commits of transactions with
/// notifications.
final class ServerChannel: Sendable {
  typealias Handler = @Sendable (ServerNotification) -> Void

  private struct State {
    /// Servers that wait for a wake-up notification.
    var sleeping: Set<ServerID> = []
    var listener: ServerNotificationListener?
    var isClosed = false
  }

  private let address: PostgreSQLAddress
  private let queue: JobQueue
  private let identity: ServerIdentity
  /// The channel that all servers of the store listen to. Each server also has a channel of its
  /// own.
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

  /// The server has a new ID, and therefore a new channel of its own.
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

  /// Wakes up servers. Never blocks; wake-ups requested meanwhile are sent together.
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

  /// Sends a notification to all servers.
  func send(_ notification: ServerNotification, in transaction: StoreTransaction) throws {
    try transaction.connection.run(
      "SELECT pg_notify($1, $2)", [.text(channel), .text(notification.payload)])
  }
}

/// Wakes up all servers in `sleeping` at the time it runs.
private final class WakingUp: StoreJob {
  let gathersWrites = false
  private let channel: ServerChannel
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

  /// Servers that get no notification find the changes when they read the tables.
  func finish(_ failure: (any Error)?) {
    if failure != nil { _ = channel.takeSleeping() }
  }
}
