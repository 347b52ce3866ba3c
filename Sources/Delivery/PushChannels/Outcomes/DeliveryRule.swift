/// The action for one answer of APNs, which is identified by its status and reason.
///
/// There is one rule for each reason that Apple documents (*Handling notification responses from
/// APNs*). For some statuses, one more rule applies to all other reasons.
struct DeliveryRule: Sendable {
  /// The action of the sender.
  enum Action: Sendable, Hashable {
    /// The push is delivered.
    case accept
    /// The device token is not valid.
    case dropDeviceToken
    /// The device token belongs to another app than the topic.
    case refuseDevice
    /// Send the push again after a delay.
    case retry(RetryPolicy, DeliveryOutcome.RetryScope)
    /// Make a new provider token and send the push again.
    case refreshProviderToken
    /// Stop the pushes of the scope until an administrator follows the advice.
    case suspend(DeliveryOutcome.SuspensionScope, advice: String)
    /// The request was wrong, which is a fault in Petrel. Never send the same bytes again.
    case blameSender
  }

  /// The HTTP status.
  var status: Int
  /// The `reason` of the answer's body. `nil` in a rule for the reasons of the status that have no
  /// rule of their own.
  var reason: String?
  /// The action.
  var action: Action

  /// Creates a rule.
  init(_ status: Int, _ reason: String?, _ action: Action) {
    self.status = status
    self.reason = reason
    self.action = action
  }

  /// The rules, in the order of statuses.
  static let all: [DeliveryRule] = [
    DeliveryRule(200, nil, .accept),

    DeliveryRule(400, "BadCollapseId", .blameSender),
    DeliveryRule(400, "BadDeviceToken", .dropDeviceToken),
    DeliveryRule(400, "BadExpirationDate", .blameSender),
    DeliveryRule(400, "BadMessageId", .blameSender),
    DeliveryRule(400, "BadPriority", .blameSender),
    DeliveryRule(400, "BadTopic", .suspend(.topic, advice: checkTopic)),
    DeliveryRule(400, "DeviceTokenNotForTopic", .refuseDevice),
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

  /// Returns the rule for an answer.
  ///
  /// The rule of the reason applies, because a reason is more specific than a status. If the reason
  /// has no rule, the rule of the status applies. Without either rule, a 5xx answer leads to a
  /// retry, and any other answer counts as a fault in Petrel.
  static func rule(status: Int, reason: String?) -> DeliveryRule {
    if status != 200, let reason, let rule = byReason[reason] { return rule }
    if let rule = byStatus[status] { return rule }
    return DeliveryRule(
      status, reason, (500...599).contains(status) ? .retry(.service, .route) : .blameSender)
  }

  /// The rules with a reason, by the reason.
  private static let byReason = Dictionary(
    uniqueKeysWithValues: all.compactMap { rule in rule.reason.map { ($0, rule) } })
  /// The rules for all other reasons of a status, by the status.
  private static let byStatus = Dictionary(
    uniqueKeysWithValues: all.filter { $0.reason == nil }.map { ($0.status, $0) })

  /// The advice for a topic that APNs does not accept.
  private static let checkTopic =
    "the topic is not the bundle ID of an app of the team; check the container's 'topics'"
  /// The advice for a provider token that APNs does not accept.
  private static let checkKey =
    "the provider token was refused; check the key file, the key ID and the team ID, and that the "
    + "key was not revoked"
  /// The advice for a key that is only for the other APNs environment.
  private static let checkEnvironment =
    "the key is restricted to the other APNs environment; use another key or the other environment"
  /// The advice for a certificate that APNs does not accept.
  private static let checkCertificate =
    "the client certificate was refused; check that it has not expired, was not revoked, and is for "
    + "this APNs environment"
}
