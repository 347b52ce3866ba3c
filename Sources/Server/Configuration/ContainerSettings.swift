/// The settings of the containers, by identifier, shared by the parts of a server.
package typealias ContainerSettings = Reloadable<[String: ServerConfiguration.Container]>

extension ContainerSettings {
  /// The settings of a container. A container without settings has the defaults.
  package subscript(container: String) -> ServerConfiguration.Container {
    value[container] ?? ServerConfiguration.Container()
  }

  /// The identifiers of the containers that have settings, in alphabetical order.
  package var names: [String] { value.keys.sorted() }
}
