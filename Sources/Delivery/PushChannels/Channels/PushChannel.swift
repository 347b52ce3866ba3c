import CloudKitModel
import Measuring
import OutboundHTTP
import Settings
import StoreModel

/// A way to the devices of one kind: its settings, and what sends with them.
///
/// ``PushChannelRegistry`` lists the channels. The keys of the configuration, dispatch, metrics, `petrel doctor` and the
/// console follow from what a channel says here.
package protocol PushChannel: AnyObject, Sendable {
  /// What the channel needs of the configuration, by which it is known whether a change concerns it.
  associatedtype Configuration: Sendable, Hashable

  /// The devices that it reaches.
  static var kind: DeviceToken.Kind { get }
  /// What people call the channel, such as `Web Push`.
  static var name: String { get }
  /// What they call one of its devices, such as `browser`.
  static var deviceName: String { get }
  /// Those it is connected to, such as `push services of browsers`.
  static var peers: String { get }
  /// The key that sets the channel up for the devices of a container, such as `webPush`.
  static func key(container: String) -> String

  /// Its keys at the top of the configuration.
  static var settings: [Setting<ChannelSettings>] { get }
  /// Its keys in each container.
  static var containerSettings: [Setting<ChannelSettings>] { get }
  /// What it needs of the configuration; nil where that does not set it up.
  static func configuration(of settings: PushChannelSettings) -> Configuration?
  /// The files that the configuration names. A change of one has the channel made anew.
  static func files(of configuration: Configuration) -> [String]
  /// What is looked at in the files that the settings name, also of a channel that is not set up.
  static func fileChecks(of settings: PushChannelSettings) -> [FileCheck]
  /// What `petrel doctor` finds in the configuration and its files, without asking anybody.
  static func findings(in configuration: Configuration, at now: Timestamp) -> [Finding]
  /// What it finds when it asks the channel's service whether the sender is believed.
  ///
  /// - Parameter noting: takes the header field `Date` of an answer, and who gave it.
  static func findings(
    askingWith configuration: Configuration,
    noting date: @escaping @Sendable (String?, String) -> Void
  ) async -> [Finding]
  /// Whether the devices of a container are reached.
  static func reaches(_ container: String, with configuration: Configuration) -> Bool
  /// The most devices that a user may have; nil where the limits say it.
  static func deviceLimit(of configuration: Configuration) -> Int?

  /// - Parameters:
  ///   - secrets: where the channel keeps a secret that it makes.
  ///   - clock: the time of requests.
  /// - Throws: ``ConfigurationError`` naming what cannot be used.
  init(
    _ configuration: Configuration, secrets: any SecretStore,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError)

  /// How long a notification is worth sending, in seconds after it was logged.
  static func lifetime(of push: Push.Kind) -> Double
  /// The way to a device of the channel's kind; nil when there is none.
  func route(to device: DeviceToken) -> PushRoute?
  /// Figures that only this channel has.
  func addMetrics(to page: inout MetricsPage)
  /// Figures of its requests; nil where it does not send with an ``HTTPClient``.
  var requestMetrics: HTTPClient.Metrics? { get }
  /// Ends its connections, after the answers that are waited for.
  func close() async
}

extension PushChannel {
  package static var settings: [Setting<ChannelSettings>] { [] }
  package static var containerSettings: [Setting<ChannelSettings>] { [] }
  package static func fileChecks(of settings: PushChannelSettings) -> [FileCheck] { [] }
  package static func findings(
    askingWith configuration: Configuration,
    noting date: @escaping @Sendable (String?, String) -> Void
  ) async -> [Finding] { [] }
  package static func reaches(_ container: String, with configuration: Configuration) -> Bool {
    true
  }
  package static func deviceLimit(of configuration: Configuration) -> Int? { nil }
  package static func lifetime(of push: Push.Kind) -> Double { push.lifetime }
  package func addMetrics(to page: inout MetricsPage) {}
  package var requestMetrics: HTTPClient.Metrics? { nil }

  /// Why nothing is sent to a device that there is no route to, for people.
  package static func lackOfRoute(to device: DeviceToken) -> String {
    "nothing can be sent to the \(deviceName): the configuration has no "
      + "'\(key(container: device.container))'"
  }

  /// Whether a configuration sets the channel up for the devices of a container.
  package static func reaches(_ container: String, with settings: PushChannelSettings) -> Bool {
    configuration(of: settings).map { reaches(container, with: $0) } ?? false
  }

  /// What is found in the configuration; nothing where it does not set the channel up.
  package static func findings(in settings: PushChannelSettings, at now: Timestamp) -> [Finding] {
    configuration(of: settings).map { findings(in: $0, at: now) } ?? []
  }

  /// What is found by asking the service; nothing where the channel is not set up.
  package static func findings(
    askingWith settings: PushChannelSettings,
    noting date: @escaping @Sendable (String?, String) -> Void
  ) async -> [Finding] {
    guard let configuration = configuration(of: settings) else { return [] }
    return await findings(askingWith: configuration, noting: date)
  }

  /// The most devices that a user may have; nil where the channel is not set up, or the limits say it.
  package static func deviceLimit(of settings: PushChannelSettings) -> Int? {
    configuration(of: settings).flatMap { deviceLimit(of: $0) }
  }
}

/// A look at a file that a configuration names, as a server does it when it starts.
package struct FileCheck: Sendable {
  /// The key that names the file.
  package var key: [String]
  /// Throws what is wrong.
  package var check: @Sendable () throws(ConfigurationError) -> Void

  package init(
    _ key: [String], _ check: @escaping @Sendable () throws(ConfigurationError) -> Void
  ) {
    (self.key, self.check) = (key, check)
  }
}
