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
    /// The settings of the server.
    var webhooks: WebhookSettings
    /// The settings for the app's strings, by the container's identifier.
    var strings: [String: AppStringsSettings]
  }

  /// The kind of the devices.
  package static let kind = DeviceToken.Kind.webhook
  /// The name of the channel in texts.
  package static let name = "Webhooks"
  /// The name of a device in texts.
  package static let deviceName = "webhook"
  /// The name of the services in texts.
  package static let peers = "webhooks"
  /// Returns the key of the configuration, the same for all containers.
  package static func key(container: String) -> String { "webhooks" }

  /// The settings of the server.
  private let settings: WebhookSettings
  /// The HTTP client, with at most 512 waiting requests for each origin.
  private let client: HTTPClient
  /// The sender.
  private let sender: WebhookSender
  /// The app's strings, by the container's identifier.
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
    sender = WebhookSender(client: client, clock: clock)
  }

  /// Returns the seconds of a day for all notifications. Nothing else reports a missed notification
  /// to a webhook, so a late one is better than none.
  package static func lifetime(of push: Push.Kind) -> Double { Push.Kind.alert.lifetime }

  /// Returns the route to a webhook. It is never `nil`, because each webhook has a URL.
  package func route(to device: DeviceToken) -> PushRoute? {
    PushRoute { self.send($0, $1, $2) }
  }

  /// Sends a delivery. If the settings do not allow the webhook's URL, the delivery ends with
  /// ``DeliveryOutcome/fault(message:)``.
  private func send(
    _ delivery: Delivery, _ attempt: DeliveryAttempt,
    _ completion: @escaping @Sendable (PushRoute.Report) -> Void
  ) {
    do {
      let endpoint = try delivery.endpoint()
      let message = WebhookMessage(
        delivery.notification, badge: delivery.badge,
        url: try OutboundURL(
          endpoint.url, allowsHTTP: settings.outbound.allowsHTTP, rules: settings.outbound.rules),
        webhook: delivery.device.token,
        strings: strings[delivery.notification.database.container])
      sender.send(
        message, signedWith: WebhookSecret(bytes: endpoint.secrets), attempt: attempt.previous,
        random: attempt.random
      ) {
        completion(PushRoute.Report($0, payload: message.payload))
      }
    } catch {
      completion(.unusable(delivery, "the webhook's URL: \(error)"))
    }
  }

  /// The metrics of the requests to webhooks.
  package var requestMetrics: HTTPClient.Metrics? { client.metrics }

  /// Cancels the open requests and closes the connections.
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
  /// The key `webhooks` at the top level of the configuration.
  package static var settings: [Setting<ChannelSettings>] {
    [
      .object(
        "webhooks", \.webhooks, WebhookSettings.table, default: "refused",
        "Notifications to programs by HTTP POST: [webhooks](#web-push-and-webhooks).")
    ]
  }

  /// The key `strings` of a container.
  package static var containerSettings: [Setting<ChannelSettings>] {
    [
      .object(
        "strings", \.strings, AppStringsSettings.table, default: "webhooks get only the keys",
        "The app's strings, for [localised alerts](webhooks.md#localised-alerts) in webhooks.")
    ]
  }

  /// Returns the settings of the server and of all containers; `nil` if webhooks are not set up.
  package static func configuration(of settings: PushChannelSettings) -> Configuration? {
    settings.server.webhooks.map {
      Configuration(webhooks: $0, strings: settings.containers.compactMapValues(\.strings))
    }
  }

  /// Returns the greatest number of webhooks that a server-to-server key may register.
  package static func deviceLimit(of configuration: Configuration) -> Int? {
    configuration.webhooks.webhooksPerKey
  }

  /// Returns the paths of the authority file and of the files with the apps' strings. The authority
  /// file has the certificates that the client trusts.
  package static func files(of configuration: Configuration) -> [String] {
    [configuration.webhooks.outbound.authorityFile].compactMap(\.self)
      + configuration.strings.values.flatMap { PetrelStrings.files(in: $0.folder) }
  }

  /// Returns a check of the app's strings for each container that has settings for them.
  package static func fileChecks(of settings: PushChannelSettings) -> [FileCheck] {
    settings.containers.compactMap { container, settings in
      guard let strings = settings.strings else { return nil }
      return FileCheck(["containers", container, "strings", "folder"]) {
        () throws(ConfigurationError) in _ = try strings.read(container: container)
      }
    }
  }

  /// Returns the findings for the settings of requests to other servers.
  package static func findings(in configuration: Configuration, at now: Timestamp) -> [Finding] {
    configuration.webhooks.outbound.findings(in: "webhooks")
  }
}
