/// The meaning of an answer of APNs for the sender: one row for each reason that Apple documents
/// (*Handling notification responses from APNs*), and one for unknown reasons.
struct DeliveryRule: Sendable {
  enum Action: Sendable, Hashable {
    case accept
    case dropDeviceToken
    case retry(RetryPolicy, DeliveryOutcome.RetryScope)
    case refreshProviderToken
    case suspend(DeliveryOutcome.SuspensionScope, advice: String)
    case blameSender
  }

  var status: Int
  /// Nil in the row for all other reasons of a status.
  var reason: String?
  var action: Action

  init(_ status: Int, _ reason: String?, _ action: Action) {
    self.status = status
    self.reason = reason
    self.action = action
  }

  static let all: [DeliveryRule] = [
    DeliveryRule(200, nil, .accept),

    DeliveryRule(400, "BadCollapseId", .blameSender),
    DeliveryRule(400, "BadDeviceToken", .dropDeviceToken),
    DeliveryRule(400, "BadExpirationDate", .blameSender),
    DeliveryRule(400, "BadMessageId", .blameSender),
    DeliveryRule(400, "BadPriority", .blameSender),
    DeliveryRule(400, "BadTopic", .suspend(.topic, advice: checkTopic)),
    DeliveryRule(400, "DeviceTokenNotForTopic", .dropDeviceToken),
    DeliveryRule(400, "DuplicateHeaders", .blameSender),
    DeliveryRule(400, "IdleTimeout", .retry(.reconnect, .push)),
    DeliveryRule(400, "InvalidPushType", .blameSender),
    DeliveryRule(400, "MissingDeviceToken", .blameSender),
    DeliveryRule(400, "MissingTopic", .suspend(.topic, advice: checkTopic)),
    DeliveryRule(400, "PayloadEmpty", .blameSender),
    DeliveryRule(
      400, "TopicDisallowed",
      .suspend(.topic, advice: "the key may not send to this topic; check the key's restrictions")),
    DeliveryRule(400, nil, .blameSender),

    DeliveryRule(403, "BadCertificate", .suspend(.route, advice: checkCertificate)),
    DeliveryRule(403, "BadCertificateEnvironment", .suspend(.route, advice: checkCertificate)),
    DeliveryRule(403, "BadEnvironmentKeyIdInToken", .suspend(.route, advice: checkEnvironment)),
    DeliveryRule(403, "BadEnvironmentKeyInToken", .suspend(.route, advice: checkEnvironment)),
    DeliveryRule(403, "ExpiredProviderToken", .refreshProviderToken),
    DeliveryRule(403, "Forbidden", .suspend(.route, advice: checkKey)),
    DeliveryRule(403, "InvalidProviderToken", .suspend(.route, advice: checkKey)),
    DeliveryRule(403, "MissingProviderToken", .suspend(.route, advice: checkKey)),
    DeliveryRule(
      403, "UnrelatedKeyIdInToken",
      .suspend(
        .route,
        advice: "the connection was used with another key before; close it, then check that the "
          + "key ID belongs to the key")),
    DeliveryRule(403, nil, .suspend(.route, advice: checkKey)),

    DeliveryRule(404, "BadPath", .blameSender),
    DeliveryRule(405, "MethodNotAllowed", .blameSender),

    DeliveryRule(410, "ExpiredToken", .dropDeviceToken),
    DeliveryRule(410, "Unregistered", .dropDeviceToken),
    DeliveryRule(410, nil, .dropDeviceToken),

    DeliveryRule(413, "PayloadTooLarge", .blameSender),

    DeliveryRule(429, "TooManyProviderTokenUpdates", .retry(.providerToken, .route)),
    DeliveryRule(429, "TooManyRequests", .retry(.device, .device)),
    DeliveryRule(429, nil, .retry(.device, .device)),

    DeliveryRule(500, "InternalServerError", .retry(.service, .push)),
    DeliveryRule(503, "ServiceUnavailable", .retry(.service, .route)),
    DeliveryRule(503, "Shutdown", .retry(.reconnect, .push)),
  ]

  /// The rule for an answer: by its reason, which is more specific than the status, or else by its
  /// status. Other 5xx statuses are retried; any other answer is a fault in Petrel.
  static func rule(status: Int, reason: String?) -> DeliveryRule {
    if status != 200, let reason, let rule = byReason[reason] { return rule }
    if let rule = byStatus[status] { return rule }
    return DeliveryRule(
      status, reason, (500...599).contains(status) ? .retry(.service, .route) : .blameSender)
  }

  private static let byReason = Dictionary(
    uniqueKeysWithValues: all.compactMap { rule in rule.reason.map { ($0, rule) } })
  private static let byStatus = Dictionary(
    uniqueKeysWithValues: all.filter { $0.reason == nil }.map { ($0.status, $0) })

  private static let checkTopic =
    "the topic is not one of the team's apps; check the bundle ID that the container is set up with"
  private static let checkKey =
    "the provider token was refused; check key file, key ID and team ID, and that the key was not "
    + "revoked"
  private static let checkEnvironment =
    "the key is restricted to the other APNs environment; use another key or the other environment"
  private static let checkCertificate =
    "the client certificate was refused; check that it has not expired, was not revoked, and is for "
    + "this APNs environment"
}
