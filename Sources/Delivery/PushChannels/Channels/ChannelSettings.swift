import Settings

/// The settings of all channels in one object of the configuration: the object of the server, or
/// the object of one container.
///
/// Each channel stores values of its own types here. The channel's folder has an extension of this
/// type with a property for each of them.
///
/// ```swift
/// configuration.channels = ChannelSettings {
///   $0.webPush = WebPushSettings(subject: "mailto:ops@example.com")
/// }
/// ```
public struct ChannelSettings: Sendable, Hashable {
  private var values: [ObjectIdentifier: AnySettings] = [:]

  /// Creates settings.
  ///
  /// - Parameter set: Assigns the settings that exist. All others are `nil`.
  public init(_ set: (inout ChannelSettings) -> Void = { _ in }) {
    set(&self)
  }

  /// The settings of a type; `nil` if there are none.
  package subscript<Value: Sendable & Hashable>(_ type: Value.Type) -> Value? {
    get { values[ObjectIdentifier(type)]?.value as? Value }
    set { values[ObjectIdentifier(type)] = newValue.map { AnySettings(value: $0) } }
  }
}

/// The settings of one channel, as a value of any type. Two values are equal if their types and
/// contents are equal.
struct AnySettings: Sendable, Hashable {
  let value: any Sendable & Hashable

  static func == (left: AnySettings, right: AnySettings) -> Bool {
    AnyHashable(left.value) == AnyHashable(right.value)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(value)) }
}

/// The settings of all channels in a configuration, for the server and for each container.
package struct PushChannelSettings: Sendable, Hashable {
  package var server: ChannelSettings
  /// The settings of the containers, by the container's identifier.
  package var containers: [String: ChannelSettings]

  package init(server: ChannelSettings, containers: [String: ChannelSettings]) {
    (self.server, self.containers) = (server, containers)
  }
}
