import CloudKitModel
import JSONCoding

/// The body of `webPush/register`, Petrel's addition: it registers a browser as a device of the
/// caller.
///
/// ```
/// { "clientId": "browser-1",
///   "subscription": { "endpoint": "https://…", "expirationTime": null,
///                     "keys": { "p256dh": "BNc…", "auth": "tBH…" } } }
/// ```
public struct WebPushRegistration: Sendable, Hashable {
  /// A browser's push subscription, as `PushSubscription.toJSON()` returns it (W3C Push API).
  public struct BrowserSubscription: Sendable, Hashable {
    /// The URL of the browser's push service for this subscription, at most 2,048 characters.
    public var endpoint: String
    /// The time at which the subscription ends; nil when the browser names no time.
    public var expires: Timestamp?
    /// The keys for the encryption of messages.
    public var keys: Keys
  }

  /// The browser's keys for the encryption of messages (RFC 8291).
  public struct Keys: Sendable, Hashable {
    /// The browser's public key, `p256dh`: 65 bytes in base64url.
    public var publicKey: String
    /// The authentication secret, `auth`: 16 bytes in base64url.
    public var authentication: String
  }

  /// The browser's push subscription.
  public var subscription: BrowserSubscription
  /// The name of the client's device, by which the server recognizes the device's own changes. When
  /// it is nil, the server uses the query parameter `clientId`.
  public var clientID: String?

  /// Creates a registration.
  public init(
    endpoint: String, expires: Timestamp? = nil, publicKey: String, authentication: String,
    clientID: String? = nil
  ) {
    subscription = BrowserSubscription(
      endpoint: endpoint, expires: expires,
      keys: Keys(publicKey: publicKey, authentication: authentication))
    self.clientID = clientID
  }
}

extension WebPushRegistration: Message, MessageObject {
  package static let blank = WebPushRegistration(endpoint: "", publicKey: "", authentication: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required(
      "subscription", &subscription, "The result of the browser's `PushSubscription.toJSON()`.")
    try coder.optional(
      "clientId", &clientID, "The ID of the device. The default is `clientId` of the query.")
  }
}

/// The members have the names of the W3C Push API, so that a page can send the browser's object
/// unchanged. The server checks the URL and the keys.
extension WebPushRegistration.BrowserSubscription: MessageObject {
  package static let blank = WebPushRegistration.blank.subscription

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("endpoint", &endpoint, .length(2_048))
    try coder.optional("expirationTime", &expires, "Milliseconds since 1970, in the future.")
    try coder.required("keys", &keys)
  }
}

extension WebPushRegistration.Keys: MessageObject {
  package static let blank = WebPushRegistration.blank.subscription.keys

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("p256dh", &publicKey, "65 bytes in base64url.")
    try coder.required("auth", &authentication, "16 bytes in base64url.")
  }
}

/// The body of `webPush/unregister`, and the answer of `webPush/register` and `webPush/unregister`.
public struct WebPushEndpointMessage: Sendable, Hashable {
  /// The URL of the browser's push service, which identifies the subscription.
  public var endpoint: String

  /// Creates a message.
  public init(endpoint: String) {
    self.endpoint = endpoint
  }
}

extension WebPushEndpointMessage: Message, MessageObject {
  package static let blank = WebPushEndpointMessage(endpoint: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("endpoint", &endpoint)
  }
}

/// The answer of `webPush/key`: the server's public key for Web Push (VAPID, RFC 8292).
public struct WebPushKeyResponse: Sendable, Hashable {
  /// The key that a page passes to `pushManager.subscribe`: a point on P-256 in base64url.
  public var applicationServerKey: String

  /// Creates an answer.
  public init(applicationServerKey: String) {
    self.applicationServerKey = applicationServerKey
  }
}

extension WebPushKeyResponse: Message, MessageObject {
  package static let blank = WebPushKeyResponse(applicationServerKey: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required(
      "applicationServerKey", &applicationServerKey, "A point on P-256 in base64url.")
  }
}
