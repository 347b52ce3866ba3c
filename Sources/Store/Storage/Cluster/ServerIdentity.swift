import StoreModel
import Synchronization

/// The server ID under which this process commits; nil while it is not registered.
final class ServerIdentity: Sendable {
  private let id = Mutex<ServerID?>(nil)
  private let others = Mutex<Set<Int64>>([])

  var current: ServerID? {
    get { id.withLock { $0 } }
    set { id.withLock { $0 = newValue } }
  }

  /// Whether a server was registered when this one last renewed its registration.
  func isPresent(_ holder: Int64) -> Bool { others.withLock { $0.contains(holder) } }

  func setOthers(_ servers: [RegisteredServer]) {
    others.withLock { $0 = Set(servers.map(\.id.rawValue)) }
  }
}
