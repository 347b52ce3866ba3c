import Synchronization

/// The settings of the containers, shared by the parts of a server. A reload of the configuration
/// replaces them.
///
/// A `Mutex` protects the settings, so any thread may read them at any time.
package final class ContainerSettings: Sendable {
  private let containers: Mutex<[String: ServerConfiguration.Container]>

  package init(_ containers: [String: ServerConfiguration.Container]) {
    self.containers = Mutex(containers)
  }

  /// The settings of a container. A container without settings has the defaults.
  package subscript(container: String) -> ServerConfiguration.Container {
    containers.withLock { $0[container] } ?? ServerConfiguration.Container()
  }

  /// The identifiers of the containers that have settings, in alphabetical order.
  package var names: [String] { containers.withLock { $0.keys.sorted() } }

  package func replace(_ containers: [String: ServerConfiguration.Container]) {
    self.containers.withLock { $0 = containers }
  }
}
