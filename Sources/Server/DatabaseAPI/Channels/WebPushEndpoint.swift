import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP
import PushChannels
import Storage
import StoreModel
import WebServices

/// The endpoint of `webPush/key`, `webPush/register` and `webPush/unregister`, Petrel's addition:
/// browsers as devices.
struct WebPushEndpoint: Sendable {
  /// The settings and the key of a server that offers Web Push.
  struct Offer: Sendable {
    /// The limits and the rules for URLs.
    var settings: WebPushSettings
    /// The server's key pair for Web Push (VAPID, RFC 8292).
    var key: WebPushKey
  }

  let store: DeviceService
  /// The settings and the key; nil if the configuration has no `webPush`.
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
          "A browser that registers again replaces its earlier registration. The caller owns the new one.",
          answer: "It is registered.")),
      Operation(
        "webPush/unregister", of: .container, for: .accounts, .changes, unregister,
        .init(
          "Web Push", "Remove a browser's push subscription",
          "An endpoint that is not registered is not an error.", answer: "It is removed.")),
    ]
  }

  /// Answers `webPush/key`: the public key that a page passes to `pushManager.subscribe`, as an
  /// uncompressed point in base64url.
  private func key(_ context: RequestContext) async throws -> WebPushKeyResponse {
    let key = try await offered().key.key()
    return WebPushKeyResponse(
      applicationServerKey: Base64URL.encode(try key.publicKey.uncompressedPoint))
  }

  /// Answers `webPush/register`: binds a browser's push subscription to the caller in the
  /// container.
  ///
  /// A browser that registers again replaces its earlier registration, even one of another user.
  ///
  /// - Throws: `BAD_REQUEST` if the server has no Web Push, if the outbound rules refuse the URL,
  ///   or if the subscription has expired or has invalid keys. `BAD_REQUEST` too for a new browser
  ///   of a user who has `browsersPerUser` browsers.
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
      deviceID: request.clientID ?? context.deviceID, signIn: context.credentials.signIn,
      registered: context.now,
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

  /// Answers `webPush/unregister`: deletes a browser's registration. The server does not send the
  /// pushes that wait for the browser. A missing registration is no error.
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

  /// Returns the settings and the key. Throws `BAD_REQUEST` if the server has no Web Push.
  private func offered() throws(ServiceError) -> Offer {
    guard let offer else {
      throw ServiceError(
        .badRequest, "Web Push is not set up here; the configuration has no 'webPush'")
    }
    return offer
  }

  /// Returns the keys of a push subscription: the browser's public key and the authentication
  /// secret (RFC 8291).
  private static func keys(
    _ keys: WebPushRegistration.Keys
  ) throws(ServiceError) -> WebPushKeys {
    func bytes(_ text: String, _ name: String) throws(ServiceError) -> [UInt8] {
      guard let bytes = Base64URL.decode(text) else {
        throw ServiceError(
          .badRequest, "subscription.keys.\(name): is not base64url without padding")
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

  /// Returns the name of a browser's registration.
  ///
  /// A browser that listens in several containers is a device in each of them, so the name depends
  /// on the container and the environment too. It does not depend on the user, so that each browser
  /// has at most one user.
  private static func token(endpoint: String, _ recipient: Recipient) -> String {
    let name = [recipient.container, recipient.environment.rawValue, endpoint]
    return WebEndpoint.token(
      kind: .webPush, digest: SHA256.hash(name.joined(separator: " ").utf8).hexadecimal)
  }
}
