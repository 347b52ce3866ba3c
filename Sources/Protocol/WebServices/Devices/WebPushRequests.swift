import CloudKitModel
import JSONCoding

/// The body of `webPush/register`.
public struct WebPushRegistration: Sendable, Hashable {
  /// What a browser's `PushSubscription.toJSON()` gives (W3C Push API).
  public struct BrowserSubscription: Sendable, Hashable {
    /// The URL of the browser's push service for this subscription.
    public var endpoint: String
    /// When the browser says that the subscription ends; nil when it does not say.
    public var expires: Timestamp?
    public var keys: Keys
  }

  public struct Keys: Sendable, Hashable {
    /// `p256dh`, base64url.
    public var publicKey: String
    /// `auth`, base64url.
    public var authentication: String
  }

  public var subscription: BrowserSubscription
  /// Names the client's device, so that its own changes can be recognised.
  public var clientID: String?

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
      "subscription", &subscription, "What the browser's `PushSubscription.toJSON()` gives.")
    try coder.optional("clientId", &clientID, "The device; by default that of the query.")
  }
}

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

/// The body of `webPush/unregister`, and the answer of it and of `webPush/register`.
public struct WebPushEndpointMessage: Sendable, Hashable {
  public var endpoint: String

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

/// The answer of `webPush/key`.
public struct WebPushKeyResponse: Sendable, Hashable {
  /// What a page gives to `pushManager.subscribe`: the server's point on P-256 in base64url.
  public var applicationServerKey: String

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
