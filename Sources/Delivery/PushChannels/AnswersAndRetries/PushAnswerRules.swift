/// The rules for the answers of one push service: what each status, and each reason of APNs, means
/// for the push, the device and the route.
///
/// ``PushRetryPolicy`` has the delays.
struct PushAnswerRules: Sendable {
  /// The rule for some statuses, or for one reason of APNs.
  struct Rule: Sendable, Hashable {
    var statuses: ClosedRange<Int>
    /// The `reason` of APNs; `nil` in a rule for all reasons without a rule of their own.
    var code: String?
    var next: PushAnswer.Next
    /// The text for the administrator: what to do, or why.
    var advice: String?

    init(
      _ statuses: ClosedRange<Int>, _ code: String?, _ next: PushAnswer.Next,
      _ advice: String? = nil
    ) {
      (self.statuses, self.code, self.next, self.advice) = (statuses, code, next, advice)
    }

    init(
      _ status: Int, _ code: String?, _ next: PushAnswer.Next, _ advice: String? = nil
    ) {
      self.init(status...status, code, next, advice)
    }
  }

  /// The rules in the order of statuses.
  let rules: [Rule]
  let otherwise: Rule

  /// Returns the rule for an answer: that of its reason, which is more specific than the status; or
  /// else the first one that contains the status.
  func rule(_ status: Int, _ code: String? = nil) -> Rule {
    if let code, let rule = rules.first(where: { $0.code == code }) { return rule }
    return rules.first { $0.code == nil && $0.statuses.contains(status) } ?? otherwise
  }

  // MARK: APNs

  /// The rules for APNs, with each reason of Apple's *Handling notification responses from APNs*.
  ///
  /// <https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns>
  static let apns = PushAnswerRules(
    rules: [
      Rule(200, nil, .done),

      Rule(400, "BadCollapseId", .fault, faulty),
      Rule(400, "BadDeviceToken", .dropDevice),
      Rule(400, "BadExpirationDate", .fault, faulty),
      Rule(400, "BadMessageId", .fault, faulty),
      Rule(400, "BadPriority", .fault, faulty),
      Rule(400, "BadTopic", .retry(.repair, .route), checkTopic),
      Rule(400, "DeviceTokenNotForTopic", .refuseDevice(nil)),
      Rule(400, "DuplicateHeaders", .fault, faulty),
      Rule(400, "IdleTimeout", .retry(.reconnect, .push)),
      Rule(400, "InvalidPushType", .fault, faulty),
      Rule(400, "MissingDeviceToken", .fault, faulty),
      Rule(400, "MissingTopic", .retry(.repair, .route), checkTopic),
      Rule(400, "PayloadEmpty", .fault, faulty),
      Rule(
        400, "TopicDisallowed", .retry(.repair, .route),
        "the key may not send to this topic; check the key's restrictions"),

      Rule(403, "BadCertificate", .retry(.repair, .route), checkCertificate),
      Rule(403, "BadCertificateEnvironment", .retry(.repair, .route), checkCertificate),
      Rule(403, "BadEnvironmentKeyIdInToken", .retry(.repair, .route), checkEnvironment),
      Rule(403, "BadEnvironmentKeyInToken", .retry(.repair, .route), checkEnvironment),
      // If another token could help, the client has already repeated the push with it.
      Rule(
        403, "ExpiredProviderToken", .retry(.repair, .route),
        "the server created the provider token less than 20 minutes ago, so this machine's clock is "
          + "wrong; correct it"),
      Rule(403, "Forbidden", .retry(.repair, .route), checkKey),
      Rule(403, "InvalidProviderToken", .retry(.repair, .route), checkKey),
      Rule(403, "MissingProviderToken", .retry(.repair, .route), checkKey),
      Rule(
        403, "UnrelatedKeyIdInToken", .retry(.repair, .route),
        "the connection was used with another key before; close it, then check that the key ID "
          + "belongs to the key"),
      Rule(403, nil, .retry(.repair, .route), checkKey),

      Rule(404, "BadPath", .fault, faulty),
      Rule(405, "MethodNotAllowed", .fault, faulty),

      Rule(410, "ExpiredToken", .dropDevice),
      Rule(410, "Unregistered", .dropDevice),
      Rule(410, nil, .dropDevice),

      Rule(413, "PayloadTooLarge", .fault, faulty),

      Rule(429, "TooManyProviderTokenUpdates", .retry(.providerToken, .route)),
      Rule(429, "TooManyRequests", .retry(.device, .device)),
      Rule(429, nil, .retry(.device, .device)),

      Rule(500, "InternalServerError", .retry(.service, .push)),
      Rule(503, "ServiceUnavailable", .retry(.service, .route)),
      Rule(503, "Shutdown", .retry(.reconnect, .push)),
      Rule(500...599, nil, .retry(.service, .route)),
    ], otherwise: Rule(0...Int.max, nil, .fault, faulty))

  private static let faulty =
    "a push of this server should never cause it; the server does not send the push again"
  private static let checkTopic =
    "the topic is not the bundle ID of an app of the team; check the container's 'topics'"
  private static let checkKey =
    "the provider token was refused; check the key file, the key ID and the team ID, and that the "
    + "key was not revoked"
  private static let checkEnvironment =
    "the key is restricted to the other APNs environment; use another key or the other environment"
  private static let checkCertificate =
    "the client certificate was refused; check that it has not expired, was not revoked, and is for "
    + "this APNs environment"

  // MARK: Web Push and webhooks

  // A user who registers an endpoint may control the answers of its URL. So no answer of an endpoint
  // delays deliveries to other devices.

  /// The rules for push services of browsers, from RFC 8030, sections 5 to 8, and RFC 8292, section
  /// 4.2. The device of a refusal that lasts a day is removed (``PushAnswer``).
  ///
  /// <https://www.rfc-editor.org/rfc/rfc8030#section-5>
  static let webPush = PushAnswerRules(
    rules: [
      Rule(200...299, nil, .done),
      Rule(300...399, nil, .fault, "the server does not follow redirects"),
      Rule(401, nil, .retry(.service, .device), checkVAPIDKey),
      Rule(403, nil, .refuseDevice(.service), checkVAPIDKey),
      Rule(404, nil, .dropDevice),
      Rule(408, nil, .retry(.service, .device)),
      Rule(410, nil, .dropDevice),
      Rule(413, nil, .fault, "the service accepts fewer than the required 4096 bytes"),
      Rule(425, nil, .retry(.service, .device)),
      Rule(429, nil, .retry(.device, .device)),
      Rule(400...499, nil, .fault, "this server's messages should never cause it"),
    ], otherwise: Rule(0...Int.max, nil, .retry(.service, .device)))

  /// The rules for webhooks (Standard Webhooks, *Deliverability and reliability*). The server
  /// repeats the message after all statuses except 2xx and 410, because a broken receiver may be
  /// repaired.
  ///
  /// <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>
  static let webhook = PushAnswerRules(
    rules: [
      Rule(200...299, nil, .done),
      Rule(300...399, nil, .retry(.service, .device), "the server does not follow redirects"),
      Rule(410, nil, .dropDevice),
      Rule(429, nil, .retry(.device, .device)),
    ], otherwise: Rule(0...Int.max, nil, .retry(.service, .device)))

  private static let checkVAPIDKey =
    "the push service rejects the server's VAPID key for this subscription; check this machine's "
    + "clock, and whether the key or the subject (webPush in the configuration) changed after the "
    + "browser subscribed"
}
