import CloudKitModel
import Measuring
import OutboundHTTP
import Settings
import Storage
import StoreModel

/// A way to the devices of one kind, such as APNs or Web Push: the settings, their checks, and the
/// sending of pushes.
///
/// ``PushChannelRegistry`` lists the channels. The configuration, the delivery of pushes, the
/// metrics, `petrel doctor` and the console work with the members of this protocol. A new channel
/// needs one folder and one line in the registry.
package protocol PushChannel: AnyObject, Sendable {
  /// The part of the configuration that the channel uses. A channel whose configuration is equal
  /// before and after a change stays open.
  associatedtype Configuration: Sendable, Hashable

  static var kind: DeviceToken.Kind { get }
  /// The name of the channel in texts, such as `Web Push`.
  static var name: String { get }
  /// The name of a device in texts, such as `browser`.
  static var deviceName: String { get }
  /// The name of the services that the channel connects to, such as `push services of browsers`.
  static var peers: String { get }
  /// Returns the key of the configuration that sets up the channel for a container, such as
  /// `webPush`.
  static func key(container: String) -> String

  /// The channel's keys at the top level of the configuration.
  static var settings: [Setting<ChannelSettings>] { get }
  /// The channel's keys in each container.
  static var containerSettings: [Setting<ChannelSettings>] { get }
  /// Returns the part of the configuration that the channel uses; `nil` if the configuration does
  /// not set up the channel.
  static func configuration(of settings: PushChannelSettings) -> Configuration?
  /// Returns the paths of the files that the configuration names. If one of them has changed when
  /// the server reads its configuration again, the server opens the channel anew.
  static func files(of configuration: Configuration) -> [String]
  /// Returns the checks of the files that the settings name. They do not need an open channel.
  static func fileChecks(of settings: PushChannelSettings) -> [FileCheck]
  /// Returns the results (`Finding`) of the checks of `petrel doctor` in the configuration and its
  /// files. The method does not connect.
  static func findings(in configuration: Configuration, at now: Timestamp) -> [Finding]
  /// Asks the channel's service whether it accepts pushes of this sender, and returns the results
  /// for `petrel doctor`.
  ///
  /// - Parameter date: Receives the `Date` header field of an answer, `nil` if there is none, and
  ///   the name of the service.
  static func findings(
    askingWith configuration: Configuration,
    noting date: @escaping @Sendable (String?, String) -> Void
  ) async -> [Finding]
  /// Whether the configuration names a way to the devices of a container that registered with this bundle
  /// ID, or without one.
  static func reaches(
    _ container: String, bundleID: String?, with configuration: Configuration
  ) -> Bool
  /// Returns the greatest number of devices of the channel that a user, or a server-to-server key,
  /// may register. `nil` if the channel sets no limit.
  static func deviceLimit(of configuration: Configuration) -> Int?

  /// Opens the channel.
  ///
  /// - Parameters:
  ///   - secrets: The store of the secrets that the channel creates.
  ///   - clock: The clock for tokens and signatures.
  /// - Throws: `ConfigurationError` that names the setting or file which is not usable.
  init(
    _ configuration: Configuration, secrets: SecretService,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError)

  /// Returns the seconds for which the server tries to send a notification, counted from the time
  /// of its entry in the notification log.
  static func lifetime(of push: Push.Kind) -> Double
  /// Returns the route to a device of the channel's kind; `nil` if there is none.
  func route(to device: DeviceToken) -> PushRoute?
  /// Adds the metrics that only this channel has to a page.
  func addMetrics(to page: inout MetricsPage)
  /// The metrics of the channel's requests; `nil` if it does not send with an `HTTPClient`.
  var requestMetrics: HTTPClient.Metrics? { get }
  /// Closes all connections, and returns when they are closed. Each push without an answer ends
  /// with an outcome.
  func close() async
}

extension PushChannel {
  package static var settings: [Setting<ChannelSettings>] { [] }
  package static var containerSettings: [Setting<ChannelSettings>] { [] }
  package static func fileChecks(of settings: PushChannelSettings) -> [FileCheck] { [] }
  /// Returns no findings: the channel has no service that could be asked.
  package static func findings(
    askingWith configuration: Configuration,
    noting date: @escaping @Sendable (String?, String) -> Void
  ) async -> [Finding] { [] }
  /// Returns true: the channel serves all containers.
  package static func reaches(
    _ container: String, bundleID: String?, with configuration: Configuration
  ) -> Bool {
    true
  }
  /// Returns `nil`: the channel sets no limit.
  package static func deviceLimit(of configuration: Configuration) -> Int? { nil }
  /// Returns the lifetime of a push to APNs: a day for a visible notification, an hour for a push
  /// that only wakes the app.
  package static func lifetime(of push: Push.Kind) -> Double { push.lifetime }
  package func addMetrics(to page: inout MetricsPage) {}
  package var requestMetrics: HTTPClient.Metrics? { nil }

  /// Returns a text with the reason why a device has no route, so that nothing can be sent to it.
  package static func lackOfRoute(to device: DeviceToken) -> String {
    "nothing can be sent to the \(deviceName): the configuration has no "
      + setting(for: device.bundleID, in: device.container)
  }

  /// Returns the text of ``lackOfRoute(to:)`` if the settings name no way to a device; `nil` if they name
  /// one.
  package static func lackOfRoute(
    to device: DeviceToken, with settings: PushChannelSettings
  ) -> String? {
    reaches(device.container, bundleID: device.bundleID, with: settings)
      ? nil : lackOfRoute(to: device)
  }

  /// Returns the name of the setting that leads to the devices of a container, as a part of a sentence.
  ///
  /// - Parameter bundleID: the bundle ID that the devices' registrations name; `nil` for none.
  package static func setting(for bundleID: String?, in container: String) -> String {
    "'\(key(container: container))'" + (bundleID.map { " with the topic '\($0)'" } ?? "")
  }

  /// Whether the settings name a way to the devices of a container that registered with this bundle ID, or
  /// without one.
  package static func reaches(
    _ container: String, bundleID: String?, with settings: PushChannelSettings
  ) -> Bool {
    configuration(of: settings).map { reaches(container, bundleID: bundleID, with: $0) } ?? false
  }

  /// Returns the findings in the configuration; an empty list if the settings do not set up the
  /// channel.
  package static func findings(in settings: PushChannelSettings, at now: Timestamp) -> [Finding] {
    configuration(of: settings).map { findings(in: $0, at: now) } ?? []
  }

  /// Asks the channel's service and returns the findings; an empty list if the settings do not set
  /// up the channel.
  package static func findings(
    askingWith settings: PushChannelSettings,
    noting date: @escaping @Sendable (String?, String) -> Void
  ) async -> [Finding] {
    guard let configuration = configuration(of: settings) else { return [] }
    return await findings(askingWith: configuration, noting: date)
  }

  /// Returns the greatest number of devices of the channel that a user, or a server-to-server key,
  /// may register. `nil` if the settings do not set up the channel, or if the channel sets no
  /// limit.
  package static func deviceLimit(of settings: PushChannelSettings) -> Int? {
    configuration(of: settings).flatMap { deviceLimit(of: $0) }
  }
}

/// A check of a file that a configuration names. A server does the same check when it starts.
package struct FileCheck: Sendable {
  /// The path of the key that names the file, such as `["webPush", "keyFile"]`.
  package var key: [String]
  /// Reads the file and throws an error if it is not usable.
  package var check: @Sendable () throws(ConfigurationError) -> Void

  package init(
    _ key: [String], _ check: @escaping @Sendable () throws(ConfigurationError) -> Void
  ) {
    (self.key, self.check) = (key, check)
  }
}
