import Synchronization

/// The set of open connections, usable from any thread.
final class ConnectionRegistry: Sendable {
  /// The state behind the lock.
  private struct State {
    var connections: [ObjectIdentifier: Connection] = [:]
    var isAbandoned = false
  }

  private let state = Mutex(State())
  var all: [Connection] { state.withLock { Array($0.connections.values) } }

  /// Adds a connection. After ``abandonAll()`` the method also abandons the connection.
  func insert(_ connection: Connection) {
    let isAbandoned = state.withLock { state in
      state.connections[ObjectIdentifier(connection)] = connection
      return state.isAbandoned
    }
    if isAbandoned { connection.abandon() }
  }

  func remove(_ connection: Connection) {
    _ = state.withLock { $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
  }

  /// Closes up to `count` connections that have been idle longest. Returns their number.
  func evictIdle(
    _ count: Int, of kind: ConnectionAdmission.Places, _ places: ConnectionPlaces
  ) -> Int {
    let idle = all.compactMap { connection in connection.idleSince(kind).map { ($0, connection) } }
      .sorted { $0.0 < $1.0 }
    var evicted = 0
    for (_, connection) in idle where evicted < count {
      if connection.endIfIdle(places) { evicted += 1 }
    }
    return evicted
  }

  /// Abandons all open connections and each that opens later.
  func abandonAll() {
    let connections = state.withLock { state in
      state.isAbandoned = true
      return Array(state.connections.values)
    }
    for connection in connections { connection.abandon() }
  }
}
