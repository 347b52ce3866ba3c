/// A reason for which APNs does not accept a request. It is the value of `reason` in the body of
/// the answer. Each case has the HTTP status of the answer before the colon.
///
/// Source: Apple, *Handling notification responses from APNs*. The raw values are the texts that
/// APNs sends.
public enum APNsReason: String, Sendable, Hashable, CaseIterable {
  /// 400: the collapse ID is longer than 64 bytes.
  case badCollapseIdentifier = "BadCollapseId"
  /// 400: the device token is malformed, or it belongs to the other environment.
  case badDeviceToken = "BadDeviceToken"
  /// 400: `apns-expiration` is not a number of seconds.
  case badExpirationDate = "BadExpirationDate"
  /// 400: `apns-id` is not a UUID.
  case badMessageIdentifier = "BadMessageId"
  /// 400: `apns-priority` is unknown or does not fit the push.
  case badPriority = "BadPriority"
  /// 400: `apns-topic` is not a valid topic.
  case badTopic = "BadTopic"
  /// 400: the device token belongs to another app.
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  /// 400: a header came more than once.
  case duplicateHeaders = "DuplicateHeaders"
  /// 400: the connection was idle for too long.
  case idleTimeout = "IdleTimeout"
  /// 400: `apns-push-type` is unknown or does not fit the payload.
  case invalidPushType = "InvalidPushType"
  /// 400: the path has no device token.
  case missingDeviceToken = "MissingDeviceToken"
  /// 400: the request has no `apns-topic`.
  case missingTopic = "MissingTopic"
  /// 400: the request has no payload.
  case payloadEmpty = "PayloadEmpty"
  /// 400: the credentials do not permit the topic.
  case topicDisallowed = "TopicDisallowed"
  /// 403: the client's certificate is not valid.
  case badCertificate = "BadCertificate"
  /// 403: the client's certificate is for the other environment.
  case badCertificateEnvironment = "BadCertificateEnvironment"
  /// 403: the key of the provider token is for the other environment.
  case badEnvironmentKeyInToken = "BadEnvironmentKeyIdInToken"
  /// 403: the provider token is older than an hour.
  case expiredProviderToken = "ExpiredProviderToken"
  /// 403: the action is not permitted.
  case forbidden = "Forbidden"
  /// 403: the provider token or its signature is not valid.
  case invalidProviderToken = "InvalidProviderToken"
  /// 403: the request has no provider token, and the client has no certificate.
  case missingProviderToken = "MissingProviderToken"
  /// 403: the connection was used with another key.
  case unrelatedKeyInToken = "UnrelatedKeyIdInToken"
  /// 404: the path is not `/3/device/…`.
  case badPath = "BadPath"
  /// 405: the method is not POST.
  case methodNotAllowed = "MethodNotAllowed"
  /// 410: the device token has expired.
  case expiredToken = "ExpiredToken"
  /// 410: the device token is no longer valid for the topic, for example because the app was
  /// removed.
  case unregistered = "Unregistered"
  /// 413: the payload is larger than 4,096 bytes, or 5,120 for VoIP.
  case payloadTooLarge = "PayloadTooLarge"
  /// 429: the provider token was renewed more often than every 20 minutes.
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  /// 429: too many pushes in a row went to the same device token.
  case tooManyRequests = "TooManyRequests"
  /// 500: APNs has a fault.
  case internalServerError = "InternalServerError"
  /// 503: APNs is not available.
  case serviceUnavailable = "ServiceUnavailable"
  /// 503: the server of APNs is shutting down.
  case shutdown = "Shutdown"

  /// The HTTP status of the answer with this reason.
  public var status: Int {
    switch self {
    case .badCollapseIdentifier, .badDeviceToken, .badExpirationDate, .badMessageIdentifier,
      .badPriority, .badTopic, .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout,
      .invalidPushType, .missingDeviceToken, .missingTopic, .payloadEmpty, .topicDisallowed:
      400
    case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyInToken,
      .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken,
      .unrelatedKeyInToken:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .expiredToken, .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates, .tooManyRequests: 429
    case .internalServerError: 500
    case .serviceUnavailable, .shutdown: 503
    }
  }
}
