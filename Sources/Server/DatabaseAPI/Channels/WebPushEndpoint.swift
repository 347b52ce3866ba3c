import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP
import PushChannels
import StoreModel
import WebServices

/// `webPush/key`, `webPush/register` and `webPush/unregister`: browsers as devices. Petrel's own.
struct WebPushEndpoint: Sendable {
  struct Offer: Sendable {
    var settings: WebPushSettings
    var key: WebPushKey
  }

  let store: any DeviceStore
  /// Nil when there is no Web Push.
  let offer: Offer?

  var operations: [Operation] {
    let all =
      "Petrel's own. Where the configuration has no `webPush`, the operations of Web Push answer BAD_REQUEST."
    return [
      Operation(
        "webPush/key", of: .container, for: .everyone, .reads, key,
        .init("Web Push", "The key that a page subscribes with", all, answer: "The key.")),
      Operation(
        "webPush/register", of: .container, for: .accounts, .changes, register,
        .init(
          "Web Push", "Register a browser's push subscription as a device of the caller",
          "A browser that registers again replaces its earlier registration, which becomes the caller's.",
          answer: "It is registered.")),
      Operation(
        "webPush/unregister", of: .container, for: .accounts, .changes, unregister,
        .init(
          "Web Push", "Forget a browser's push subscription",
          "An endpoint that is not registered is no error.", answer: "It is forgotten.")),
    ]
  }

  /// The key that a page subscribes with.
  private func key(_ context: RequestContext) async throws -> WebPushKeyResponse {
    let key = try await offered().key.key()
    return WebPushKeyResponse(
      applicationServerKey: Base64URL.encode(try key.publicKey.uncompressedPoint))
  }

  /// Binds a browser's push subscription to the caller in the container.
  private func register(
    _ request: WebPushRegistration, _ context: RequestContext
  ) async throws -> WebPushEndpointMessage {
    let settings = try offered().settings
    let recipient = try context.recipient()
    let subscription = request.subscription
    let url: OutboundURL
    do {
      url = try OutboundURL(
        subscription.endpoint, allowsHTTP: settings.outbound.allowsHTTP,
        rules: settings.outbound.rules)
    } catch {
      throw ServiceError(.badRequest, "subscription.endpoint: \(error)")
    }
    if let expires = subscription.expires, expires <= context.now {
      throw ServiceError(
        .badRequest, "subscription.expirationTime: has passed; subscribe again in the browser")
    }
    let keys = try Self.keys(subscription.keys)
    let device = DeviceToken(
      kind: .webPush, token: Self.token(endpoint: url.description, recipient),
      container: recipient.container, environment: recipient.environment,
      apnsEnvironment: .production, userRecordName: recipient.userRecordName,
      deviceID: request.clientID ?? context.deviceID, registered: context.now,
      expires: subscription.expires,
      endpoint: WebEndpoint(
        url: url.description, secrets: keys.publicPoint + keys.authentication))
    guard try await store.saveDeviceToken(device, unlessBeyond: settings.browsersPerUser) else {
      throw ServiceError(
        .badRequest,
        "subscription: the user has \(settings.browsersPerUser) browsers already; remove one with "
          + "webPush/unregister", limit: settings.browsersPerUser)
    }
    return WebPushEndpointMessage(endpoint: url.description)
  }

  /// Forgets a browser's subscription; that there is none is no error.
  private func unregister(
    _ request: WebPushEndpointMessage, _ context: RequestContext
  ) async throws -> WebPushEndpointMessage {
    _ = try offered()
    let recipient = try context.recipient()
    _ = try await store.removeDeviceToken(
      Self.token(endpoint: request.endpoint, recipient), kind: .webPush, of: recipient,
      at: context.now)
    return request
  }

  private func offered() throws(ServiceError) -> Offer {
    guard let offer else {
      throw ServiceError(
        .badRequest, "Web Push is not set up here; the configuration has no 'webPush'")
    }
    return offer
  }

  private static func keys(
    _ keys: WebPushRegistration.Keys
  ) throws(ServiceError) -> WebPushKeys {
    func bytes(_ text: String, _ name: String) throws(ServiceError) -> [UInt8] {
      guard let bytes = Base64URL.decode(text) else {
        throw ServiceError(
          .badRequest, "subscription.keys.\(name): is no base64url without padding")
      }
      return bytes
    }
    let point = try bytes(keys.publicKey, "p256dh")
    let authentication = try bytes(keys.authentication, "auth")
    do {
      return try WebPushKeys(publicPoint: point, authentication: authentication)
    } catch {
      throw ServiceError(.badRequest, "subscription.keys.\(error)")
    }
  }

  /// One browser may listen in several containers, each of which is a device of its own.
  private static func token(endpoint: String, _ recipient: Recipient) -> String {
    let name = [recipient.container, recipient.environment.rawValue, endpoint]
    return WebEndpoint.token(
      kind: .webPush, digest: SHA256.hash(name.joined(separator: " ").utf8).hexadecimal)
  }
}
