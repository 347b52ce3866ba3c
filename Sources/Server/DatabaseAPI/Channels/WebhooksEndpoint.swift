import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP
import PushChannels
import Storage
import StoreModel
import WebServices

/// The endpoint of `webhooks/register`, `webhooks/list` and `webhooks/delete`, Petrel's addition.
///
/// A program with a server-to-server key registers URLs to which the server posts the key's
/// notifications.
struct WebhooksEndpoint: Sendable {
  /// The registered devices. Each webhook is stored as a device.
  let store: DeviceService
  /// The settings of webhooks; nil if the configuration has no `webhooks`.
  let settings: WebhookSettings?

  var operations: [Operation] {
    [
      Operation(
        "webhooks/register", of: .container, for: .programs, .changes, register,
        .init(
          "Webhooks", "Have a server-to-server key's notifications posted to a URL",
          """
          Petrel's own. The operations of webhooks are for callers with a server-to-server key; others get \
          ACCESS_DENIED. Where the configuration has no `webhooks`, they answer BAD_REQUEST. A URL that is \
          already registered gets a new secret.
          """, answer: "The webhook with its secret. No later answer has the secret.")),
      Operation(
        "webhooks/list", of: .container, for: .programs, .reads, list,
        .init(
          "Webhooks", "The key's webhooks", "Without their secrets.", answer: "The webhooks.")),
      Operation(
        "webhooks/delete", of: .container, for: .programs, .changes, delete,
        .init(
          "Webhooks", "Remove a webhook",
          "The server does not post the notifications that wait for it.", answer: "It is removed.")),
    ]
  }

  /// Answers `webhooks/register`: registers a URL with a new secret. A URL that is already
  /// registered gets a new secret too.
  ///
  /// - Throws: `BAD_REQUEST` if the server has no webhooks, for a URL that the outbound rules
  ///   refuse, and for a new webhook of a key that has `webhooksPerKey` webhooks.
  private func register(
    _ request: WebhookRegistration, _ context: RequestContext
  ) async throws -> WebhookDescription {
    let settings = try offered()
    let recipient = try context.recipient()
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
      secret: secret.text)
  }

  /// Answers `webhooks/list`: the key's webhooks in the container and environment, without their
  /// secrets.
  private func list(_ context: RequestContext) async throws -> WebhookList {
    _ = try offered()
    let recipient = try context.recipient()
    let devices = try await store.deviceTokens(of: recipient.userRecordName)
    let webhooks = devices.compactMap { device -> WebhookDescription? in
      guard device.kind == .webhook, device.container == recipient.container,
        device.environment == recipient.environment, let endpoint = device.endpoint
      else { return nil }
      return WebhookDescription(
        webhookID: device.token, url: endpoint.url, registered: device.registered)
    }
    return WebhookList(webhooks: webhooks)
  }

  /// Answers `webhooks/delete`: deletes a webhook. The server does not post the notifications that
  /// wait for it.
  ///
  /// - Throws: `NOT_FOUND` if the key has no webhook of this ID.
  private func delete(
    _ request: WebhookDeletion, _ context: RequestContext
  ) async throws -> WebhookDeletion {
    _ = try offered()
    let recipient = try context.recipient()
    let isRemoved = try await store.removeDeviceToken(
      request.webhookID, kind: .webhook, of: recipient, at: context.now)
    guard isRemoved else {
      throw ServiceError(
        .notFound, "webhookId: the key has no webhook '\(request.webhookID.prefix(80))'")
    }
    return request
  }

  /// Throws `BAD_REQUEST` if the server has no webhooks.
  private func offered() throws(ServiceError) -> WebhookSettings {
    guard let settings else {
      throw ServiceError(
        .badRequest, "webhooks are not set up here; the configuration has no 'webhooks'")
    }
    return settings
  }

  /// Returns the name of a webhook: a hash of the key's user, the container, the environment and
  /// the URL.
  private static func token(url: String, _ recipient: Recipient) -> String {
    let name = [
      recipient.userRecordName, recipient.container, recipient.environment.rawValue, url,
    ]
    return WebEndpoint.token(
      kind: .webhook, digest: SHA256.hash(name.joined(separator: " ").utf8).hexadecimal)
  }
}
