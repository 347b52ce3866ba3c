import Synchronization

/// The settings of the containers, which are exchanged when the configuration is read anew.
package final class ContainerSettings: Sendable {
  private let containers: Mutex<[String: ServerConfiguration.Container]>

  package init(_ containers: [String: ServerConfiguration.Container]) {
    self.containers = Mutex(containers)
  }

  /// The settings of a container; the usual ones for one that has none.
  package subscript(container: String) -> ServerConfiguration.Container {
    containers.withLock { $0[container] } ?? ServerConfiguration.Container()
  }

  /// The containers that have settings.
  package var names: [String] { containers.withLock { $0.keys.sorted() } }

  package func replace(_ containers: [String: ServerConfiguration.Container]) {
    self.containers.withLock { $0 = containers }
  }
}
