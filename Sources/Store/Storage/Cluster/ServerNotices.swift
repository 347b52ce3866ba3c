import Foundation
import SQLEngine
import StoreModel
import Synchronization

/// Gives other servers notice of what they would else find by looking, and hears what they give notice
/// of.
///
/// Notices are sent when what they tell of is committed, each in a transaction of its own, on the
/// connection that the leases have: PostgreSQL lets transactions with notices commit one after the other.
final class ServerNotices: Sendable {
  typealias Handler = @Sendable (ServerNotice) -> Void

  private struct State {
    /// Servers that word was left for, and that have no notice of it yet.
    var awaited: Set<ServerID> = []
    var listener: NoticeListener?
    var isClosed = false
  }

  private let address: PostgreSQLAddress
  private let queue: JobQueue
  private let identity: ServerIdentity
  /// What all servers of the store listen to; each has another one of its own beside it.
  private let channel: String
  private let state = Mutex(State())

  /// - Parameters:
  ///   - connection: one to the store, which is only asked where that is.
  ///   - queue: leads to the connection on which notices are sent.
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

  // MARK: Hearing

  /// Has notices heard, on a thread of their own; nil ends that.
  func setHandler(_ handler: Handler?, in threads: ThreadGroup) {
    let former = state.withLock { state in
      let former = state.listener
      state.listener =
        if let handler, !state.isClosed {
          NoticeListener(
            to: address, channel: channel, identity: identity, handler: handler)
        } else {
          nil
        }
      if let listener = state.listener {
        threads.start(named: "petrel.store.notices") { listener.work() }
      }
      return former
    }
    former?.close()
  }

  /// The server's number is another: so is the channel of its own.
  func identityChanged() { state.withLock { $0.listener }?.wake() }

  func close() {
    let listener = state.withLock { state in
      state.isClosed = true
      defer { state.listener = nil }
      return state.listener
    }
    listener?.close()
  }

  // MARK: Giving notice

  /// Tells servers that word was left for them. Never blocks; what comes meanwhile is told at once.
  func tellOfWord(_ servers: Set<ServerID>) {
    let isFirst = state.withLock { state in
      defer { state.awaited.formUnion(servers) }
      return state.awaited.isEmpty
    }
    if isFirst { queue.add(WordTelling(self)) }
  }

  fileprivate func takeAwaited() -> Set<ServerID> {
    state.withLock { state in
      defer { state.awaited = [] }
      return state.awaited
    }
  }

  fileprivate func tell(_ servers: Set<ServerID>, in transaction: StoreTransaction) throws {
    let channels = servers.map { "\(channel)_\($0.rawValue)" }.sorted()
    try transaction.connection.run(
      "SELECT pg_notify(name, $2) FROM unnest(string_to_array($1, ' ')) AS name",
      [.text(channels.joined(separator: " ")), .text(ServerNotice.word.payload)])
  }

  /// Tells all servers something.
  func tell(_ notice: ServerNotice, in transaction: StoreTransaction) throws {
    try transaction.connection.run(
      "SELECT pg_notify($1, $2)", [.text(channel), .text(notice.payload)])
  }
}

/// Has servers told that word was left for them, all those that there are by then.
private final class WordTelling: StoreJob {
  let gathersWrites = false
  private let notices: ServerNotices
  private let taken = Mutex<Set<ServerID>>([])

  init(_ notices: ServerNotices) {
    self.notices = notices
  }

  func run(in transaction: StoreTransaction) throws {
    let servers = taken.withLock { taken in
      taken.formUnion(notices.takeAwaited())
      return taken
    }
    if !servers.isEmpty { try notices.tell(servers, in: transaction) }
  }

  /// Those who are not told find the word when they look.
  func finish(_ failure: (any Error)?) {
    if failure != nil { _ = notices.takeAwaited() }
  }
}
