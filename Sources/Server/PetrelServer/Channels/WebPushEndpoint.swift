import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP
import StoreModel
import WebDelivery
import WebServices

/// `webPush/key`, `webPush/register` and `webPush/unregister`: browsers as devices. Petrel's own.
struct WebPushEndpoint: Sendable {
  struct Offer: Sendable {
    var settings: ServerConfiguration.WebPush
    var key: WebPushKey
  }

  let store: any DeviceStore
  /// Nil when there is no Web Push.
  let offer: Offer?

  /// The key that a page subscribes with.
  func key(_ context: RequestContext) async throws -> Data {
    let key = try await offered().key.key()
    return WebPushKeyResponse(
      applicationServerKey: Base64URL.encode(try key.publicKey.uncompressedPoint)
    ).body
  }

  /// Binds a browser's push subscription to the caller in the container.
  func register(_ context: RequestContext) async throws -> Data {
    let settings = try offered().settings
    let recipient = try context.recipient()
    let request = try WebPushRegistration(parsing: context.body)
    let url: OutboundURL
    do {
      url = try OutboundURL(
        request.endpoint, allowsHTTP: settings.outbound.allowsHTTP,
        rules: settings.outbound.rules)
    } catch {
      throw ServiceError(.badRequest, "subscription.endpoint: \(error)")
    }
    if let expires = request.expires, expires <= context.now {
      throw ServiceError(
        .badRequest, "subscription.expirationTime: has passed; subscribe again in the browser")
    }
    let keys = try Self.keys(request)
    let device = DeviceToken(
      kind: .webPush, token: Self.token(endpoint: url.description, recipient),
      container: recipient.container, environment: recipient.environment,
      apnsEnvironment: .production, userRecordName: recipient.userRecordName,
      deviceID: request.clientID ?? context.deviceID, registered: context.now,
      expires: request.expires,
      endpoint: WebEndpoint(
        url: url.description, secrets: keys.publicPoint + keys.authentication))
    guard try await store.saveDeviceToken(device, unlessBeyond: settings.browsersPerUser) else {
      throw ServiceError(
        .badRequest,
        "subscription: the user has \(settings.browsersPerUser) browsers already; remove one with "
          + "webPush/unregister", limit: settings.browsersPerUser)
    }
    return WebPushEndpointMessage(endpoint: url.description).body
  }

  /// Forgets a browser's subscription; that there is none is no error.
  func unregister(_ context: RequestContext) async throws -> Data {
    _ = try offered()
    let recipient = try context.recipient()
    let request = try WebPushEndpointMessage(parsing: context.body)
    _ = try await store.removeDeviceToken(
      Self.token(endpoint: request.endpoint, recipient), kind: .webPush, of: recipient,
      at: context.now)
    return request.body
  }

  private func offered() throws(ServiceError) -> Offer {
    guard let offer else {
      throw ServiceError(
        .badRequest, "Web Push is not set up here; the configuration has no 'webPush'")
    }
    return offer
  }

  private static func keys(_ request: WebPushRegistration) throws(ServiceError) -> WebPushKeys {
    func bytes(_ text: String, _ name: String) throws(ServiceError) -> [UInt8] {
      guard let bytes = Base64URL.decode(text) else {
        throw ServiceError(
          .badRequest, "subscription.keys.\(name): is no base64url without padding")
      }
      return bytes
    }
    let point = try bytes(request.publicKey, "p256dh")
    let authentication = try bytes(request.authentication, "auth")
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
