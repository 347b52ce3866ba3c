import CloudKitModel
import Foundation
import JSONCoding

/// The body of `webPush/register`: what a browser's `PushSubscription.toJSON()` gives (W3C Push API),
/// under `subscription`.
public struct WebPushRegistration: Sendable, Hashable {
  /// The URL of the browser's push service for this subscription.
  public var endpoint: String
  /// When the browser says that the subscription ends; nil when it does not say.
  public var expires: Timestamp?
  /// `keys.p256dh`, base64url.
  public var publicKey: String
  /// `keys.auth`, base64url.
  public var authentication: String
  /// Names the client's device, so that its own changes can be recognised.
  public var clientID: String?

  public init(
    endpoint: String, expires: Timestamp? = nil, publicKey: String, authentication: String,
    clientID: String? = nil
  ) {
    self.endpoint = endpoint
    self.expires = expires
    self.publicKey = publicKey
    self.authentication = authentication
    self.clientID = clientID
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    let subscription = try reader.member("subscription")
    endpoint = try subscription.member("endpoint").string()
    expires = try subscription.optional("expirationTime").map {
      (time) throws(ServiceError) in Timestamp(milliseconds: try time.milliseconds())
    }
    let keys = try subscription.member("keys")
    publicKey = try keys.member("p256dh").string()
    authentication = try keys.member("auth").string()
    clientID = try reader.optionalString("clientId")
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("subscription")
      writer.object { writer in
        writer.member("endpoint", endpoint)
        if let expires { writer.member("expirationTime", expires.milliseconds) }
        writer.key("keys")
        writer.object { writer in
          writer.member("p256dh", publicKey)
          writer.member("auth", authentication)
        }
      }
      writer.member("clientId", ifPresent: clientID)
    }
    return writer.data
  }
}

/// The body of `webPush/unregister`, and the answer of it and of `webPush/register`.
public struct WebPushEndpointMessage: Sendable, Hashable {
  public var endpoint: String

  public init(endpoint: String) {
    self.endpoint = endpoint
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    endpoint = try reader.member("endpoint").string()
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { $0.member("endpoint", endpoint) }
    return writer.data
  }
}

/// The answer of `webPush/key`.
public struct WebPushKeyResponse: Sendable, Hashable {
  /// What a page gives to `pushManager.subscribe`: the server's point on P-256 in base64url.
  public var applicationServerKey: String

  public init(applicationServerKey: String) {
    self.applicationServerKey = applicationServerKey
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    applicationServerKey = try reader.member("applicationServerKey").string()
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { $0.member("applicationServerKey", applicationServerKey) }
    return writer.data
  }
}
