import CloudKitModel
import Foundation
import JSONCoding

/// The body of `webhooks/register`.
public struct WebhookRegistration: Sendable, Hashable {
  public var url: String

  public init(url: String) {
    self.url = url
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    url = try reader.member("url").string()
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { $0.member("url", url) }
    return writer.data
  }
}

/// The body of `webhooks/delete`, and its answer.
public struct WebhookDeletion: Sendable, Hashable {
  public var webhookID: String

  public init(webhookID: String) {
    self.webhookID = webhookID
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    webhookID = try reader.member("webhookId").string()
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { $0.member("webhookId", webhookID) }
    return writer.data
  }
}

/// A webhook, as `webhooks/register` and `webhooks/list` tell of it.
public struct WebhookDescription: Sendable, Hashable {
  public var webhookID: String
  public var url: String
  public var registered: Timestamp
  /// What the receiver checks signatures with: `whsec_` and base64. Told once, when it is made.
  public var secret: String?

  public init(webhookID: String, url: String, registered: Timestamp, secret: String? = nil) {
    self.webhookID = webhookID
    self.url = url
    self.registered = registered
    self.secret = secret
  }

  init(_ reader: MessageReader) throws(ServiceError) {
    webhookID = try reader.member("webhookId").string()
    url = try reader.member("url").string()
    registered = Timestamp(milliseconds: try reader.member("registered").milliseconds())
    secret = try reader.optionalString("secret")
  }

  public init(parsing body: Data) throws(ServiceError) {
    try self.init(
      MessageReader(parsing: body, context: MessageContext(ownerNaming: .explicit)))
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { write(to: &$0) }
    return writer.data
  }

  func write(to writer: inout JSONWriter) {
    writer.member("webhookId", webhookID)
    writer.member("url", url)
    writer.member("registered", registered.milliseconds)
    writer.member("secret", ifPresent: secret)
  }
}

/// The answer of `webhooks/list`.
public struct WebhookList: Sendable, Hashable {
  public var webhooks: [WebhookDescription]

  public init(webhooks: [WebhookDescription]) {
    self.webhooks = webhooks
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    webhooks = []
    for element in try reader.member("webhooks").elements() {
      webhooks.append(try WebhookDescription(element))
    }
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("webhooks")
      writer.array { writer in
        for webhook in webhooks { writer.object { webhook.write(to: &$0) } }
      }
    }
    return writer.data
  }
}
