import CloudKitModel
import OutboundHTTP
import Settings
import StoreModel
import StringTables

/// Posts to the webhooks of programs.
package final class WebhookChannel: PushChannel {
  package struct Configuration: Sendable, Hashable {
    var webhooks: WebhookSettings
    /// The app's strings, by container.
    var strings: [String: AppStringsSettings]
  }

  package static let kind = DeviceToken.Kind.webhook
  package static let name = "Webhooks"
  package static let deviceName = "webhook"
  package static let peers = "webhooks"
  package static func key(container: String) -> String { "webhooks" }

  private let settings: WebhookSettings
  private let client: HTTPClient
  private let sender: WebhookSender
  /// By container.
  private let strings: [String: PetrelStrings]

  package init(
    _ configuration: Configuration, secrets: any SecretStore,
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

  /// A webhook gets no later wake-up for a missed notification, so a late one is better than none.
  package static func lifetime(of push: Push.Kind) -> Double { Push.Kind.alert.lifetime }

  package func route(to device: DeviceToken) -> PushRoute? {
    PushRoute { self.send($0, $1, $2) }
  }

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

  package var requestMetrics: HTTPClient.Metrics? { client.metrics }

  package func close() async { await client.close() }
}

extension ChannelSettings {
  /// Of the server: nil when programs may not register webhooks.
  public var webhooks: WebhookSettings? {
    get { self[WebhookSettings.self] }
    set { self[WebhookSettings.self] = newValue }
  }

  /// Of a container: nil when the server does not have the app's strings.
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
        "Posts to programs, [webhooks](#web-push-and-webhooks).")
    ]
  }

  package static var containerSettings: [Setting<ChannelSettings>] {
    [
      .object(
        "strings", \.strings, AppStringsSettings.table, default: "webhooks get the keys alone",
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
