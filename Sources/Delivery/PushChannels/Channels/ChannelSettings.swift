import Settings

/// The settings of channels in one object of the configuration: those of the server, or of a container.
///
/// Each channel keeps values of its own type here, and has a property for them in its folder.
///
/// ```swift
/// configuration.channels = ChannelSettings {
///   $0.webPush = WebPushSettings(subject: "mailto:ops@example.com")
/// }
/// ```
public struct ChannelSettings: Sendable, Hashable {
  private var values: [ObjectIdentifier: AnySettings] = [:]

  /// - Parameter set: sets what there is; the rest is nil.
  public init(_ set: (inout ChannelSettings) -> Void = { _ in }) {
    set(&self)
  }

  /// The settings of a type; nil where there are none.
  package subscript<Value: Sendable & Hashable>(_ type: Value.Type) -> Value? {
    get { values[ObjectIdentifier(type)]?.value as? Value }
    set { values[ObjectIdentifier(type)] = newValue.map { AnySettings(value: $0) } }
  }
}

/// Settings of any type, compared by what they are.
struct AnySettings: Sendable, Hashable {
  let value: any Sendable & Hashable

  static func == (left: AnySettings, right: AnySettings) -> Bool {
    AnyHashable(left.value) == AnyHashable(right.value)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(value)) }
}

/// All settings of channels in a configuration.
package struct PushChannelSettings: Sendable, Hashable {
  package var server: ChannelSettings
  /// By the container's identifier.
  package var containers: [String: ChannelSettings]

  package init(server: ChannelSettings, containers: [String: ChannelSettings]) {
    (self.server, self.containers) = (server, containers)
  }
}
