import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP
import StoreModel
import WebDelivery
import WebServices

/// `webhooks/register`, `webhooks/list` and `webhooks/delete`: where a program with a
/// server-to-server key has its notifications posted to. Petrel's own.
struct WebhooksEndpoint: Sendable {
  let store: any DeviceStore
  /// Nil when there are no webhooks.
  let settings: ServerConfiguration.Webhooks?

  /// Registers a URL, with a new secret. One that is registered already gets a new secret too.
  func register(_ context: RequestContext) async throws -> Data {
    let settings = try self.settings(context)
    let recipient = try context.recipient()
    let request = try WebhookRegistration(parsing: context.body)
    let url: OutboundURL
    do {
      url = try OutboundURL(
        request.url, allowsHTTP: settings.outbound.allowsHTTP, rules: settings.outbound.rules)
    } catch {
      throw ServiceError(.badRequest, "url: \(error)")
    }
    let secret = WebhookSecret.random()
    let device = DeviceToken(
      kind: .webhook, token: Self.token(url: url.description, recipient),
      container: recipient.container, environment: recipient.environment,
      apnsEnvironment: .production, userRecordName: recipient.userRecordName, deviceID: nil,
      registered: context.now,
      endpoint: WebEndpoint(url: url.description, secrets: secret.bytes))
    guard try await store.saveDeviceToken(device, unlessBeyond: settings.webhooksPerKey) else {
      throw ServiceError(
        .badRequest,
        "url: the key has \(settings.webhooksPerKey) webhooks already; remove one with "
          + "webhooks/delete", limit: settings.webhooksPerKey)
    }
    return WebhookDescription(
      webhookID: device.token, url: url.description, registered: device.registered,
      secret: secret.text
    ).body
  }

  /// The key's webhooks, without their secrets.
  func list(_ context: RequestContext) async throws -> Data {
    _ = try settings(context)
    let recipient = try context.recipient()
    let devices = try await store.deviceTokens(of: recipient.userRecordName)
    let webhooks = devices.compactMap { device -> WebhookDescription? in
      guard device.kind == .webhook, device.container == recipient.container,
        device.environment == recipient.environment, let endpoint = device.endpoint
      else { return nil }
      return WebhookDescription(
        webhookID: device.token, url: endpoint.url, registered: device.registered)
    }
    return WebhookList(webhooks: webhooks).body
  }

  func delete(_ context: RequestContext) async throws -> Data {
    _ = try settings(context)
    let recipient = try context.recipient()
    let request = try WebhookDeletion(parsing: context.body)
    let isRemoved = try await store.removeDeviceToken(
      request.webhookID, kind: .webhook, of: recipient, at: context.now)
    guard isRemoved else {
      throw ServiceError(
        .notFound, "webhookId: the key has no webhook '\(request.webhookID.prefix(80))'")
    }
    return request.body
  }

  private func settings(
    _ context: RequestContext
  ) throws(ServiceError) -> ServerConfiguration.Webhooks {
    guard case .serverKey = context.caller else {
      throw ServiceError(
        .accessDenied, "\(context.path.operation) is for programs with a server-to-server key")
    }
    guard let settings else {
      throw ServiceError(
        .badRequest, "webhooks are not set up here; the configuration has no 'webhooks'")
    }
    return settings
  }

  private static func token(url: String, _ recipient: Recipient) -> String {
    let name = [
      recipient.userRecordName, recipient.container, recipient.environment.rawValue, url,
    ]
    return WebEndpoint.token(
      kind: .webhook, digest: SHA256.hash(name.joined(separator: " ").utf8).hexadecimal)
  }
}
