import CloudKitModel
import Measuring
import OutboundHTTP
import Settings
import StoreModel

/// A channel to the devices of one kind: its settings, its checks, and the sender.
///
/// ``PushChannelRegistry`` lists the channels. Configuration keys, dispatch, metrics, `petrel
/// doctor` and the console follow from the members of this protocol. A new channel is one folder
/// and one line in the registry.
package protocol PushChannel: AnyObject, Sendable {
  /// The part of the configuration that the channel uses. A channel whose configuration is equal
  /// before and after a change stays open.
  associatedtype Configuration: Sendable, Hashable

  /// The kind of the devices that the channel reaches.
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
  /// Returns the part of the configuration that the channel uses; `nil` if it does not set up the
  /// channel.
  static func configuration(of settings: PushChannelSettings) -> Configuration?
  /// Returns the paths of the files that the configuration names. A change of a file opens the
  /// channel anew.
  static func files(of configuration: Configuration) -> [String]
  /// Returns the checks of the files that the settings name, also if the channel is not set up.
  static func fileChecks(of settings: PushChannelSettings) -> [FileCheck]
  /// Returns the findings of `petrel doctor` in the configuration and its files, without a
  /// connection.
  static func findings(in configuration: Configuration, at now: Timestamp) -> [Finding]
  /// Returns the findings of `petrel doctor` after it asked the channel's service whether it
  /// accepts the sender.
  ///
  /// - Parameter date: Receives the `Date` header field of an answer, and the name of the service.
  static func findings(
    askingWith configuration: Configuration,
    noting date: @escaping @Sendable (String?, String) -> Void
  ) async -> [Finding]
  /// Whether the channel reaches the devices of a container.
  static func reaches(_ container: String, with configuration: Configuration) -> Bool
  /// Returns the greatest number of devices that a user may have; `nil` if the channel sets no
  /// limit.
  static func deviceLimit(of configuration: Configuration) -> Int?

  /// Opens the channel.
  ///
  /// - Parameters:
  ///   - secrets: The store for a secret that the channel creates.
  ///   - clock: The clock for tokens and signatures.
  /// - Throws: `ConfigurationError` that names the setting or file which is not usable.
  init(
    _ configuration: Configuration, secrets: any SecretStore,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError)

  /// Returns the time in seconds, from the log entry, for which the server tries to send a
  /// notification.
  static func lifetime(of push: Push.Kind) -> Double
  /// Returns the route to a device of the channel's kind; `nil` if there is none.
  func route(to device: DeviceToken) -> PushRoute?
  /// Adds the metrics that only this channel has to a page.
  func addMetrics(to page: inout MetricsPage)
  /// The metrics of the channel's requests; `nil` if it does not send with an `HTTPClient`.
  var requestMetrics: HTTPClient.Metrics? { get }
  /// Closes the connections after the answers that are still due.
  func close() async
}

extension PushChannel {
  /// No keys.
  package static var settings: [Setting<ChannelSettings>] { [] }
  /// No keys.
  package static var containerSettings: [Setting<ChannelSettings>] { [] }
  /// Returns no checks.
  package static func fileChecks(of settings: PushChannelSettings) -> [FileCheck] { [] }
  /// Returns no findings: the channel has no service that could be asked.
  package static func findings(
    askingWith configuration: Configuration,
    noting date: @escaping @Sendable (String?, String) -> Void
  ) async -> [Finding] { [] }
  /// Returns true: the channel serves all containers.
  package static func reaches(_ container: String, with configuration: Configuration) -> Bool {
    true
  }
  /// Returns `nil`: the channel sets no limit.
  package static func deviceLimit(of configuration: Configuration) -> Int? { nil }
  /// Returns the lifetime of a push to APNs: a day for a visible notification, an hour for a silent
  /// one.
  package static func lifetime(of push: Push.Kind) -> Double { push.lifetime }
  /// Adds nothing.
  package func addMetrics(to page: inout MetricsPage) {}
  /// No metrics.
  package var requestMetrics: HTTPClient.Metrics? { nil }

  /// Returns the reason why nothing can be sent to a device without a route, as text.
  package static func lackOfRoute(to device: DeviceToken) -> String {
    "nothing can be sent to the \(deviceName): the configuration has no "
      + "'\(key(container: device.container))'"
  }

  /// Whether the settings set up the channel for the devices of a container.
  package static func reaches(_ container: String, with settings: PushChannelSettings) -> Bool {
    configuration(of: settings).map { reaches(container, with: $0) } ?? false
  }

  /// Returns the findings in the configuration; none if the settings do not set up the channel.
  package static func findings(in settings: PushChannelSettings, at now: Timestamp) -> [Finding] {
    configuration(of: settings).map { findings(in: $0, at: now) } ?? []
  }

  /// Returns the findings from the channel's service; none if the settings do not set up the
  /// channel.
  package static func findings(
    askingWith settings: PushChannelSettings,
    noting date: @escaping @Sendable (String?, String) -> Void
  ) async -> [Finding] {
    guard let configuration = configuration(of: settings) else { return [] }
    return await findings(askingWith: configuration, noting: date)
  }

  /// Returns the greatest number of devices that a user may have. `nil` if the settings do not set
  /// up the channel, or if the channel sets no limit.
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

  /// Creates a check.
  package init(
    _ key: [String], _ check: @escaping @Sendable () throws(ConfigurationError) -> Void
  ) {
    (self.key, self.check) = (key, check)
  }
}
