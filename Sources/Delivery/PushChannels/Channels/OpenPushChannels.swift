import CloudKitModel
import Cryptography
import Foundation
import Settings
import StoreModel
import Synchronization

/// The channels that a configuration sets up. A running server exchanges them when their settings change.
package final class OpenPushChannels: Sendable {
  /// Channels that have been made, and what they were made from.
  package struct Channels: Sendable {
    fileprivate var open: [DeviceToken.Kind: (channel: any PushChannel, origin: Origin)] = [:]

    /// The channel of a type; nil where it is not set up.
    package func channel<Channel: PushChannel>(_ type: Channel.Type) -> Channel? {
      open[type.kind]?.channel as? Channel
    }
  }

  /// The settings of a channel, and hashes of the files that these name.
  fileprivate struct Origin: Sendable, Hashable {
    var configuration: AnySettings
    var files: [String: [UInt8]]
  }

  private let secrets: any SecretStore
  private let clock: @Sendable () -> Timestamp
  private let current = Mutex(Channels())

  /// - Throws: ``ConfigurationError`` naming what cannot be used.
  package init(
    _ settings: PushChannelSettings, secrets: any SecretStore,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    self.secrets = secrets
    self.clock = clock
    _ = use(try prepare(settings))
  }

  /// The channel of a type; nil where it is not set up.
  package func channel<Channel: PushChannel>(_ type: Channel.Type) -> Channel? {
    current.withLock { $0.channel(type) }
  }

  /// All that are set up, in the order of the registry.
  package var all: [any PushChannel] {
    let open = current.withLock { $0.open }
    return PushChannelRegistry.all.compactMap { open[$0.kind]?.channel }
  }

  /// The way to a device; nil when there is none.
  package func route(to device: DeviceToken) -> PushRoute? {
    current.withLock { $0.open[device.kind]?.channel }?.route(to: device)
  }

  /// Makes the channels of other settings. Those that the settings leave as they are stay the same.
  ///
  /// - Throws: ``ConfigurationError`` naming what cannot be used.
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

  /// Sends what comes from now on through these channels. What others have sent is answered there; what
  /// waited for them is tried again.
  ///
  /// - Returns: what was exchanged, for people.
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
