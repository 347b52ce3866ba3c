import CloudKitModel
import OutboundHTTP
import Settings
import Storage
import StoreModel
import StringTables

/// The channel to programs. A program registers a webhook, a URL to which the channel posts
/// notifications.
package final class WebhookChannel: PushChannel {
  /// The settings of the server and of all containers.
  package struct Configuration: Sendable, Hashable {
    var webhooks: WebhookSettings
    /// The settings for the app's strings, by the container's identifier.
    var strings: [String: AppStringsSettings]
  }

  package static let kind = DeviceToken.Kind.webhook
  package static let name = "Webhooks"
  package static let deviceName = "webhook"
  package static let peers = "webhooks"
  package static func key(container: String) -> String { "webhooks" }

  private let settings: WebhookSettings
  /// The HTTP client, with at most 512 waiting requests for each origin.
  private let client: HTTPClient
  private let clock: @Sendable () -> Timestamp
  private let strings: [String: PetrelStrings]

  /// Opens the channel and reads the app's strings.
  ///
  /// - Throws: `ConfigurationError` if a setting or a file is not usable. The error names the
  ///   setting or the file.
  package init(
    _ configuration: Configuration, secrets: SecretService,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    settings = configuration.webhooks
    var strings: [String: PetrelStrings] = [:]
    for (container, settings) in configuration.strings {
      strings[container] = try settings.read(container: container)
    }
    self.strings = strings
    client = try HTTPClient(settings.outbound, waitingPerOrigin: 512, name: "webhooks")
    self.clock = clock
  }

  /// Returns the seconds of a day for all notifications. Nothing else reports a missed notification
  /// to a webhook, so a late one is better than none.
  package static func lifetime(of push: Push.Kind) -> Double { Push.Kind.alert.lifetime }

  /// Returns the route to a webhook. It is never `nil`, because each webhook has a URL.
  package func route(to device: DeviceToken) -> PushRoute? {
    PushRoute { self.send($0, $1) }
  }

  /// Sends a delivery. If the settings do not allow the webhook's URL, the delivery ends with
  /// ``PushAnswer/Next/fault``.
  private func send(_ delivery: Delivery, _ completion: @escaping PushRoute.Completion) {
    do {
      let endpoint = try delivery.endpoint()
      let message = WebhookMessage(
        delivery.notification, badge: delivery.badge,
        url: try OutboundURL(
          endpoint.url, allowsHTTP: settings.outbound.allowsHTTP, rules: settings.outbound.rules),
        webhook: delivery.device.token,
        strings: strings[delivery.notification.database.container])
      message.send(
        over: client, signedWith: WebhookSecret(bytes: endpoint.secrets), clock: clock,
        completion: completion)
    } catch {
      completion(.unsendable(delivery, "the webhook's URL: \(error)"))
    }
  }

  package var requestMetrics: HTTPClient.Metrics? { client.metrics }

  package func close() async { await client.close() }
}

extension ChannelSettings {
  /// The settings of the server for webhooks. `nil` if programs may not register webhooks.
  public var webhooks: WebhookSettings? {
    get { self[WebhookSettings.self] }
    set { self[WebhookSettings.self] = newValue }
  }

  /// The settings for the app's strings of a container. `nil` if the server does not have the
  /// strings.
  public var strings: AppStringsSettings? {
    get { self[AppStringsSettings.self] }
    set { self[AppStringsSettings.self] = newValue }
  }
}

extension WebhookChannel {
  package static var settings: [Setting<ChannelSettings>] {
    [
      .object(
        "webhooks", \.webhooks, WebhookSettings.table, default: "refused",
        "Notifications to programs by HTTP POST: [webhooks](#web-push-and-webhooks).")
    ]
  }

  package static var containerSettings: [Setting<ChannelSettings>] {
    [
      .object(
        "strings", \.strings, AppStringsSettings.table, default: "webhooks get only the keys",
        "The app's strings, for [localised alerts](webhooks.md#localised-alerts) in webhooks.")
    ]
  }

  package static func configuration(of settings: PushChannelSettings) -> Configuration? {
    settings.server.webhooks.map {
      Configuration(webhooks: $0, strings: settings.containers.compactMapValues(\.strings))
    }
  }

  package static func deviceLimit(of configuration: Configuration) -> Int? {
    configuration.webhooks.webhooksPerKey
  }

  /// Returns the paths of the authority file and of the files with the apps' strings. The authority
  /// file has the certificates that the client trusts.
  package static func files(of configuration: Configuration) -> [String] {
    [configuration.webhooks.outbound.authorityFile].compactMap(\.self)
      + configuration.strings.values.flatMap { PetrelStrings.files(in: $0.folder) }
  }

  package static func fileChecks(of settings: PushChannelSettings) -> [FileCheck] {
    settings.containers.compactMap { container, settings in
      guard let strings = settings.strings else { return nil }
      return FileCheck(["containers", container, "strings", "folder"]) {
        () throws(ConfigurationError) in _ = try strings.read(container: container)
      }
    }
  }

  package static func findings(in configuration: Configuration, at now: Timestamp) -> [Finding] {
    configuration.webhooks.outbound.findings(in: "webhooks")
  }
}
