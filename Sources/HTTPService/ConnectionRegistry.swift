import Synchronization

/// The open connections.
final class ConnectionRegistry: Sendable {
  private struct State {
    var connections: [ObjectIdentifier: Connection] = [:]
    var isAbandoned = false
  }

  private let state = Mutex(State())

  var all: [Connection] { state.withLock { Array($0.connections.values) } }

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

  /// Abandons all connections, and each that is opened later.
  func abandonAll() {
    let connections = state.withLock { state in
      state.isAbandoned = true
      return Array(state.connections.values)
    }
    for connection in connections { connection.abandon() }
  }
}
