import CloudKitModel
import Cryptography
import Foundation
import Settings
import Storage
import StoreModel
import Synchronization

/// The open channels of a server (``PushChannel``). The server replaces channels when their
/// settings change.
///
/// A change has two steps. ``prepare(_:)`` opens the new channels and may fail. Then ``use(_:)``
/// replaces the old ones. A lock protects the current channels, so any thread may use them.
package final class OpenPushChannels: Sendable {
  /// A set of open channels. Each has the configuration and the files from which it was opened.
  package struct Channels: Sendable {
    /// The channels, each with its origin (configuration and files), by the kind of device.
    fileprivate var open: [DeviceToken.Kind: (channel: any PushChannel, origin: Origin)] = [:]

    /// Returns the channel of a type; `nil` if the configuration does not set it up.
    package func channel<Channel: PushChannel>(_ type: Channel.Type) -> Channel? {
      open[type.kind]?.channel as? Channel
    }
  }

  /// The configuration of a channel, and the hashes of the files that the configuration names.
  fileprivate struct Origin: Sendable, Hashable {
    var configuration: AnySettings
    /// The SHA-256 hashes of the files, by path. A file that is not readable counts as empty.
    var files: [String: [UInt8]]
  }

  private let secrets: SecretService
  private let clock: @Sendable () -> Timestamp
  private let current = Mutex(Channels())

  /// Opens the channels that the settings set up.
  ///
  /// - Throws: `ConfigurationError` that names the setting or file which is not usable.
  package init(
    _ settings: PushChannelSettings, secrets: SecretService,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    self.secrets = secrets
    self.clock = clock
    _ = use(try prepare(settings))
  }

  /// Returns the channel of a type; `nil` if the configuration does not set it up.
  package func channel<Channel: PushChannel>(_ type: Channel.Type) -> Channel? {
    current.withLock { $0.channel(type) }
  }

  /// All open channels, in the order of the list ``PushChannelRegistry/all``.
  package var all: [any PushChannel] {
    let open = current.withLock { $0.open }
    return PushChannelRegistry.all.compactMap { open[$0.kind]?.channel }
  }

  /// Returns the route to a device; `nil` if there is none.
  package func route(to device: DeviceToken) -> PushRoute? {
    current.withLock { $0.open[device.kind]?.channel }?.route(to: device)
  }

  /// Opens the channels for new settings, but does not send with them yet. A channel whose settings
  /// and files have not changed is reused.
  ///
  /// - Throws: `ConfigurationError` that names the setting or file which is not usable.
  package func prepare(
    _ settings: PushChannelSettings
  ) throws(ConfigurationError) -> Channels {
    let current = current.withLock { $0 }
    var next = Channels()
    for type in PushChannelRegistry.all {
      next.open[type.kind] = try open(type, settings, unlessIs: current.open[type.kind])
    }
    return next
  }

  /// Returns the channel of a type for the settings, with its origin: `known` if its origin is the
  /// same, otherwise a new channel. `nil` if the settings do not set up the channel.
  private func open<Channel: PushChannel>(
    _ type: Channel.Type, _ settings: PushChannelSettings,
    unlessIs known: (channel: any PushChannel, origin: Origin)?
  ) throws(ConfigurationError) -> (channel: any PushChannel, origin: Origin)? {
    guard let configuration = type.configuration(of: settings) else { return nil }
    let files = type.files(of: configuration).map { file in
      (file, SHA256.hash(FileManager.default.contents(atPath: file) ?? Data()))
    }
    let origin = Origin(
      configuration: AnySettings(value: configuration),
      files: Dictionary(files, uniquingKeysWith: { first, _ in first }))
    if let known, known.origin == origin { return known }
    return (try Channel(configuration, secrets: secrets, clock: clock), origin)
  }

  /// Replaces the channels. Later deliveries go through the new channels.
  ///
  /// The method closes the replaced channels without waiting for them. The channel to APNs closes
  /// when the sent pushes are answered. The others cancel their open requests. The pushes that end
  /// in this way are sent again later.
  ///
  /// - Returns: A text for each channel that was opened, closed or replaced, such as `connections
  ///   to APNs`.
  package func use(_ next: Channels) -> [String] {
    let old = current.withLock { current in
      defer { current = next }
      return current
    }
    return PushChannelRegistry.all.compactMap { type in
      let (before, after) = (old.open[type.kind]?.channel, next.open[type.kind]?.channel)
      guard before !== after else { return nil }
      if let before { Task { await before.close() } }
      return "connections to \(type.peers)"
    }
  }

  package func close() async {
    for channel in all { await channel.close() }
  }
}
