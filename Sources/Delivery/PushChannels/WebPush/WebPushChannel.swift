import CloudKitModel
import OutboundHTTP
import Settings
import StoreModel
import Synchronization

/// Pushes to browsers, through the push services that these name.
package final class WebPushChannel: PushChannel {
  package typealias Configuration = WebPushSettings

  package static let kind = DeviceToken.Kind.webPush
  package static let name = "Web Push"
  package static let deviceName = "browser"
  package static let peers = "push services of browsers"
  package static func key(container: String) -> String { "webPush" }

  package let key: WebPushKey
  private let settings: WebPushSettings
  private let client: HTTPClient
  private let clock: @Sendable () -> Timestamp
  /// Nil until the key was read from the store.
  private let known = Mutex<WebPushSender?>(nil)

  package init(
    _ settings: WebPushSettings, secrets: any SecretStore,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    self.settings = settings
    self.clock = clock
    key = try WebPushKey(settings, store: secrets)
    client = try HTTPClient(settings.outbound, waitingPerOrigin: 4_096, name: "web-push")
  }

  package func route(to device: DeviceToken) -> PushRoute? {
    PushRoute { self.send($0, $1, $2) }
  }

  private func send(
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

  package var requestMetrics: HTTPClient.Metrics? { client.metrics }

  package func close() async { await client.close() }
}

extension ChannelSettings {
  /// Of the server: nil when browsers may not register for Web Push.
  public var webPush: WebPushSettings? {
    get { self[WebPushSettings.self] }
    set { self[WebPushSettings.self] = newValue }
  }
}

extension WebPushChannel {
  package static var settings: [Setting<ChannelSettings>] {
    [
      .object(
        "webPush", \.webPush, WebPushSettings.table, default: "refused",
        "Pushes to browsers by [Web Push](#web-push-and-webhooks).")
    ]
  }

  package static func configuration(of settings: PushChannelSettings) -> WebPushSettings? {
    settings.server.webPush
  }

  package static func deviceLimit(of settings: WebPushSettings) -> Int? {
    settings.browsersPerUser
  }

  package static func files(of settings: WebPushSettings) -> [String] {
    [settings.keyFile, settings.outbound.authorityFile].compactMap(\.self)
  }

  package static func fileChecks(of settings: PushChannelSettings) -> [FileCheck] {
    guard let file = settings.server.webPush?.keyFile else { return [] }
    return [
      FileCheck(["webPush", "keyFile"]) { () throws(ConfigurationError) in
        _ = try WebPushKey.key(inFile: file)
      }
    ]
  }

  package static func findings(in settings: WebPushSettings, at now: Timestamp) -> [Finding] {
    var findings = settings.outbound.findings(in: "webPush")
    // The check of the files reports a key that cannot be used.
    if settings.keyFile.map({ (try? WebPushKey.key(inFile: $0)) != nil }) ?? true {
      findings.append(.ok("webPush: the key \(settings.keyFile ?? "in the store") can be used"))
    }
    return findings
  }
}
