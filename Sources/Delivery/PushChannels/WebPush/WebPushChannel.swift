import CloudKitModel
import OutboundHTTP
import Settings
import Storage
import StoreModel
import Synchronization

/// The channel to browsers. Each browser has registered the URL of its push service, and the
/// channel sends to that URL.
package final class WebPushChannel: PushChannel {
  package typealias Configuration = WebPushSettings

  package static let kind = DeviceToken.Kind.webPush
  package static let name = "Web Push"
  package static let deviceName = "browser"
  package static let peers = "push services of browsers"
  package static func key(container: String) -> String { "webPush" }

  package let key: WebPushKey
  private let settings: WebPushSettings
  /// The HTTP client, with at most 4,096 waiting requests for each origin.
  private let client: HTTPClient
  private let clock: @Sendable () -> Timestamp
  /// The sender, which a lock protects. `nil` until the first delivery has got the server's key.
  private let known = Mutex<WebPushSender?>(nil)

  /// Opens the channel. It reads the key file, if the settings name one, but does not connect.
  ///
  /// - Throws: `ConfigurationError` that names the setting or file which is not usable.
  package init(
    _ settings: WebPushSettings, secrets: SecretService,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    self.settings = settings
    self.clock = clock
    key = try WebPushKey(settings, store: secrets)
    client = try HTTPClient(settings.outbound, waitingPerOrigin: 4_096, name: "web-push")
  }

  /// Returns the route to a browser. It is never `nil`, because each browser has registered the URL
  /// of its push service.
  package func route(to device: DeviceToken) -> PushRoute? {
    PushRoute { self.send($0, $1) }
  }

  /// Sends a delivery. The first deliveries wait until the server's key is read. If the store
  /// cannot return the key, the delivery is tried again after a delay, and the whole route waits as
  /// long.
  private func send(_ delivery: Delivery, _ completion: @escaping PushRoute.Completion) {
    let message: WebPushMessage
    do {
      message = try self.message(delivery)
    } catch {
      return completion(.unsendable(delivery, "the browser's subscription: \(error)"))
    }
    let send = { @Sendable (sender: WebPushSender) in
      sender.send(
        message, refusedSince: delivery.device.refusal?.since, completion: completion)
    }
    if let sender = known.withLock({ $0 }) { return send(sender) }
    Task {
      do {
        send(try await sender())
      } catch {
        completion(
          PushAnswer(
            next: .retry(.service, .route),
            reason: "the server cannot get its Web Push key: \(error)", reach: .notSent,
            payload: message.payload.bytes))
      }
    }
  }

  /// Returns the sender with the server's key. The first call creates the sender.
  private func sender() async throws -> WebPushSender {
    let sender = try WebPushSender(
      client: client, key: try await key.key(), subject: settings.subject, clock: clock)
    // Concurrent calls may create several senders with the same key. All calls return the first
    // one, so that all deliveries share its tokens.
    return known.withLock { known in
      known = known ?? sender
      return known ?? sender
    }
  }

  /// Returns the message of a delivery. The first 65 bytes of the endpoint's secrets are the
  /// browser's public point. The other bytes are the authentication secret.
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
  /// The settings for Web Push of the server. `nil` if browsers may not register.
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

  /// Returns the paths of the key file and the authority file, if the settings name them. The
  /// authority file has the certificates that the client trusts.
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

  /// Returns the findings for the settings of requests to other servers and for the key. A key in
  /// the store is not read.
  package static func findings(in settings: WebPushSettings, at now: Timestamp) -> [Finding] {
    var findings = settings.outbound.findings(in: "webPush")
    // `fileChecks(of:)` reports a key that cannot be used.
    if settings.keyFile.map({ (try? WebPushKey.key(inFile: $0)) != nil }) ?? true {
      findings.append(.ok("webPush: the key \(settings.keyFile ?? "in the store") can be used"))
    }
    return findings
  }
}
