import Synchronization

/// The settings of the containers, which are exchanged when the configuration is read anew.
final class ContainerSettings: Sendable {
  private let containers: Mutex<[String: ServerConfiguration.Container]>

  init(_ containers: [String: ServerConfiguration.Container]) {
    self.containers = Mutex(containers)
  }

  /// The settings of a container; the usual ones for one that has none.
  subscript(container: String) -> ServerConfiguration.Container {
    containers.withLock { $0[container] } ?? ServerConfiguration.Container()
  }

  /// The containers that have settings.
  var names: [String] { containers.withLock { $0.keys.sorted() } }

  func replace(_ containers: [String: ServerConfiguration.Container]) {
    self.containers.withLock { $0 = containers }
  }
}
