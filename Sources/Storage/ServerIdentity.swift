import Synchronization

/// As which server this process commits; nil as long as it is none.
final class ServerIdentity: Sendable {
  private let id = Mutex<ServerID?>(nil)

  var current: ServerID? {
    get { id.withLock { $0 } }
    set { id.withLock { $0 = newValue } }
  }
}
