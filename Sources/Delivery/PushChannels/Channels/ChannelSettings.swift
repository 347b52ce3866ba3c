import Settings

/// The settings of all channels in one object of the configuration: that of the server, or of a
/// container.
///
/// Each channel stores values of its own type here, and has a property for them in its folder.
///
/// ```swift
/// configuration.channels = ChannelSettings {
///   $0.webPush = WebPushSettings(subject: "mailto:ops@example.com")
/// }
/// ```
public struct ChannelSettings: Sendable, Hashable {
  /// The settings by the identity of their type.
  private var values: [ObjectIdentifier: AnySettings] = [:]

  /// Creates settings.
  ///
  /// - Parameter set: Sets the settings that exist. All others are `nil`.
  public init(_ set: (inout ChannelSettings) -> Void = { _ in }) {
    set(&self)
  }

  /// The settings of a type; `nil` if there are none.
  package subscript<Value: Sendable & Hashable>(_ type: Value.Type) -> Value? {
    get { values[ObjectIdentifier(type)]?.value as? Value }
    set { values[ObjectIdentifier(type)] = newValue.map { AnySettings(value: $0) } }
  }
}

/// Settings of any type. Two are equal if their types and values are equal.
struct AnySettings: Sendable, Hashable {
  /// The settings.
  let value: any Sendable & Hashable

  static func == (left: AnySettings, right: AnySettings) -> Bool {
    AnyHashable(left.value) == AnyHashable(right.value)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(value)) }
}

/// The settings of all channels in a configuration.
package struct PushChannelSettings: Sendable, Hashable {
  /// The settings of the server.
  package var server: ChannelSettings
  /// The settings of the containers, by the container's identifier.
  package var containers: [String: ChannelSettings]

  /// Creates the settings.
  package init(server: ChannelSettings, containers: [String: ChannelSettings]) {
    (self.server, self.containers) = (server, containers)
  }
}
