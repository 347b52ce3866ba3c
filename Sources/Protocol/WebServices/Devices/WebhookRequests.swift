import CloudKitModel
import JSONCoding

/// The body of `webhooks/register`.
public struct WebhookRegistration: Sendable, Hashable {
  public var url: String

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

/// The body of `webhooks/delete`, and its answer.
public struct WebhookDeletion: Sendable, Hashable {
  public var webhookID: String

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

/// A webhook: the answer of `webhooks/register`, and an element of that of `webhooks/list`.
public struct WebhookDescription: Sendable, Hashable {
  public var webhookID: String
  public var url: String
  public var registered: Timestamp
  /// What the receiver checks signatures with: `whsec_` and base64. Only the answer of the registration has
  /// it.
  public var secret: String?

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

/// The answer of `webhooks/list`.
public struct WebhookList: Sendable, Hashable {
  public var webhooks: [WebhookDescription]

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
