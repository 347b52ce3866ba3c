import StoreModel
import Synchronization

/// The server ID under which this process commits, and the other servers that it knows. Two mutexes
/// guard them, so any thread may use the object.
final class ServerIdentity: Sendable {
  private let id = Mutex<ServerID?>(nil)
  /// The IDs of the other registered servers, as of the last renewal.
  private let others = Mutex<Set<Int64>>([])

  /// This server's ID; nil while the server is not registered.
  var current: ServerID? {
    get { id.withLock { $0 } }
    set { id.withLock { $0 = newValue } }
  }

  /// Whether a server was registered when this one last renewed its registration.
  ///
  /// The answer may be old by one renewal interval. A wrong answer is harmless: the statement that
  /// takes over a lease checks the registration itself.
  func isPresent(_ holder: Int64) -> Bool { others.withLock { $0.contains(holder) } }

  /// Replaces the other servers, after a renewal.
  func setOthers(_ servers: [RegisteredServer]) {
    others.withLock { $0 = Set(servers.map(\.id.rawValue)) }
  }
}
