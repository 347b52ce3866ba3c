import StoreModel
import Synchronization

/// The server ID under which this process commits, and the IDs of the other registered servers. A
/// mutex guards each of them, so any thread may use the object.
final class ServerIdentity: Sendable {
  private let id = Mutex<ServerID?>(nil)
  private let others = Mutex<Set<Int64>>([])

  var current: ServerID? {
    get { id.withLock { $0 } }
    set { id.withLock { $0 = newValue } }
  }

  /// Whether another server was registered when this server last renewed its own registration.
  ///
  /// The result may be old by one renewal interval. This is harmless, because the statement that
  /// takes over a lease checks the registration itself.
  func isPresent(_ holder: Int64) -> Bool { others.withLock { $0.contains(holder) } }

  func setOthers(_ servers: [RegisteredServer]) {
    others.withLock { $0 = Set(servers.map(\.id.rawValue)) }
  }
}
