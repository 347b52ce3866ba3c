import ChangeDispatch
import CloudKitModel
import Cryptography
import OutboundHTTP
import PushChannels
import Settings
import StoreModel
import StringTables
import Synchronization

/// The ways to browsers and to webhooks, as far as the configuration sets them up. Each has a client
/// of its own, so that neither waits for the other.
final class WebRoutes: Sendable {
  private let browsers: BrowserRoute?
  private let webhooks: WebhookRoute?

  /// - Throws: ``ConfigurationError`` when no requests can be sent, or the strings of a container
  ///   cannot be read.
  init(
    configuration: ServerConfiguration, key: WebPushKey?,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    var strings: [String: PetrelStrings] = [:]
    for (container, settings) in configuration.containers {
      strings[container] = try settings.strings?.read(container: container)
    }
    do {
      browsers = try configuration.webPush.flatMap { settings in
        try key.map { try BrowserRoute(settings, key: $0, clock: clock) }
      }
      webhooks = try configuration.webhooks.map {
        try WebhookRoute($0, strings: strings, clock: clock)
      }
    } catch {
      throw ConfigurationError("nothing can be sent to browsers and webhooks: \(error)")
    }
  }

  /// The way to a device; nil when it is neither a browser nor a webhook, or there is none.
  func route(to device: DeviceToken) -> PushRoute? {
    switch device.kind {
    case .webPush: browsers.map { route in PushRoute { route.send($0, $1, $2) } }
    case .webhook: webhooks.map { route in PushRoute { route.send($0, $1, $2) } }
    case .apns, .courier: nil
    }
  }

  var webPushMetrics: HTTPClient.Metrics { browsers?.client.metrics ?? HTTPClient.Metrics() }
  var webhookMetrics: HTTPClient.Metrics { webhooks?.client.metrics ?? HTTPClient.Metrics() }

  func close() async {
    await browsers?.client.close()
    await webhooks?.client.close()
  }
}

/// The way to browsers.
private final class BrowserRoute: Sendable {
  let client: HTTPClient
  private let settings: WebPushSettings
  private let key: WebPushKey
  private let clock: @Sendable () -> Timestamp
  /// Nil until the key was read from the store.
  private let known = Mutex<WebPushSender?>(nil)

  init(
    _ settings: WebPushSettings, key: WebPushKey,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(OutboundError) {
    self.settings = settings
    self.key = key
    self.clock = clock
    client = try HTTPClient(settings.outbound.client(waitingPerOrigin: 4_096), name: "web-push")
  }

  func send(
    _ delivery: Delivery, _ attempt: DeliveryAttempt,
    _ completion: @escaping @Sendable (PushRoute.Report) -> Void
  ) {
    let message: WebPushMessage
    do {
      message = try self.message(delivery)
    } catch {
      return completion(.unusable(delivery, "the browser's subscription: \(error)"))
    }
    let send = { @Sendable (sender: WebPushSender) in
      sender.send(message, attempt: attempt.previous, random: attempt.random) {
        completion(PushRoute.Report($0, payload: message.payload))
      }
    }
    if let sender = known.withLock({ $0 }) { return send(sender) }
    Task {
      do {
        send(try await sender())
      } catch {
        let delay = RetryPolicy.service.delay(attempt: attempt.rests, random: attempt.random)
        completion(
          PushRoute.Report(
            outcome: .retry(after: delay, .route),
            text: "the key of Web Push cannot be had: \(error)", reach: .notSent,
            payload: message.payload.bytes))
      }
    }
  }

  private func sender() async throws -> WebPushSender {
    let sender = try WebPushSender(
      client: client, key: try await key.key(), subject: settings.subject, clock: clock)
    // All have the same key; the first one keeps the tokens.
    return known.withLock { known in
      known = known ?? sender
      return known ?? sender
    }
  }

  private func message(_ delivery: Delivery) throws -> WebPushMessage {
    let endpoint = try delivery.endpoint()
    return WebPushMessage(
      delivery.notification, badge: delivery.badge,
      endpoint: try OutboundURL(
        endpoint.url, allowsHTTP: settings.outbound.allowsHTTP, rules: settings.outbound.rules),
      keys: try WebPushKeys(
        publicPoint: Array(endpoint.secrets.prefix(65)),
        authentication: Array(endpoint.secrets.dropFirst(65))),
      issued: delivery.logged)
  }
}

/// The way to webhooks.
private final class WebhookRoute: Sendable {
  let client: HTTPClient
  private let settings: WebhookSettings
  private let sender: WebhookSender
  /// By container.
  private let strings: [String: PetrelStrings]

  init(
    _ settings: WebhookSettings, strings: [String: PetrelStrings],
    clock: @escaping @Sendable () -> Timestamp
  ) throws(OutboundError) {
    self.settings = settings
    self.strings = strings
    client = try HTTPClient(settings.outbound.client(waitingPerOrigin: 512), name: "webhooks")
    sender = WebhookSender(client: client, clock: clock)
  }

  func send(
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
}

extension Delivery {
  fileprivate func endpoint() throws -> WebEndpoint {
    guard let endpoint = device.endpoint else {
      throw StoreError(.corrupt, "the device '\(device.token)' has no endpoint")
    }
    return endpoint
  }
}

extension PushRoute.Report {
  fileprivate init(_ result: WebDeliveryResult, payload: PushPayload) {
    // What concerns more than the endpoint is a failure of this server's own.
    var reach = Reach.answered
    if case .retry(_, let scope) = result.outcome, scope != .device { reach = .notSent }
    self.init(
      outcome: result.outcome, text: result.detail, reach: reach, payload: payload.bytes)
  }

  /// A delivery that cannot be sent, as after the configuration was changed.
  fileprivate static func unusable(_ delivery: Delivery, _ reason: String) -> PushRoute.Report {
    PushRoute.Report(
      outcome: .fault(message: reason), text: reason, reach: .answered,
      payload: PushPayload(delivery.notification, badge: delivery.badge, reader: .courier).bytes)
  }
}
