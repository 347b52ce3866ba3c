import CloudKitModel
import JSONCoding

/// The body of `webhooks/register`, Petrel's addition for callers with a server-to-server key. The
/// server posts the key's notifications to the URL.
public struct WebhookRegistration: Sendable, Hashable {
  /// The URL that receives the notifications, at most 2,048 characters.
  public var url: String

  /// Creates a registration.
  public init(url: String) {
    self.url = url
  }
}

extension WebhookRegistration: Message, MessageObject {
  package static let blank = WebhookRegistration(url: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("url", &url, .length(2_048))
  }
}

/// The body and the answer of `webhooks/delete`.
public struct WebhookDeletion: Sendable, Hashable {
  /// The identifier of the webhook, from the answer of `webhooks/register`.
  public var webhookID: String

  /// Creates a deletion.
  public init(webhookID: String) {
    self.webhookID = webhookID
  }
}

extension WebhookDeletion: Message, MessageObject {
  package static let blank = WebhookDeletion(webhookID: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("webhookId", &webhookID)
  }
}

/// A webhook: the answer of `webhooks/register`, and an element of the answer of `webhooks/list`.
///
/// ```
/// { "webhookId": "…", "url": "https://example.com/hook", "registered": 1700000000000,
///   "secret": "whsec_…" }
/// ```
public struct WebhookDescription: Sendable, Hashable {
  /// The identifier of the webhook.
  public var webhookID: String
  /// The URL that receives the notifications.
  public var url: String
  /// The time of the registration.
  public var registered: Timestamp
  /// The secret with which the receiver checks signatures: `whsec_` and 32 bytes in base64. Only
  /// the answer of `webhooks/register` has it.
  public var secret: String?

  /// Creates a description.
  public init(webhookID: String, url: String, registered: Timestamp, secret: String? = nil) {
    self.webhookID = webhookID
    self.url = url
    self.registered = registered
    self.secret = secret
  }
}

extension WebhookDescription: Message, MessageObject {
  package static let schemaName: String? = "Webhook"
  package static let blank = WebhookDescription(
    webhookID: "", url: "", registered: Timestamp(milliseconds: 0))

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("webhookId", &webhookID)
    try coder.required("url", &url)
    try coder.required("registered", &registered, "Milliseconds since 1970.")
    try coder.optional(
      "secret", &secret,
      MemberNote(
        "`whsec_` and 32 bytes in base64. Only the answer of webhooks/register has it.",
        ["pattern": "^whsec_"]))
  }
}

/// The answer of `webhooks/list`: the webhooks of the caller's key.
public struct WebhookList: Sendable, Hashable {
  /// The webhooks, without their secrets.
  public var webhooks: [WebhookDescription]

  /// Creates an answer.
  public init(webhooks: [WebhookDescription]) {
    self.webhooks = webhooks
  }
}

extension WebhookList: Message, MessageObject {
  package static let blank = WebhookList(webhooks: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("webhooks", &webhooks)
  }
}
