/// Why APNs did not accept a request: `reason` in the body of its answer.
///
/// Apple, *Handling notification responses from APNs*. The raw values are Apple's spelling.
public enum APNsReason: String, Sendable, Hashable, CaseIterable {
  case badCollapseIdentifier = "BadCollapseId"
  case badDeviceToken = "BadDeviceToken"
  case badExpirationDate = "BadExpirationDate"
  case badMessageIdentifier = "BadMessageId"
  case badPriority = "BadPriority"
  case badTopic = "BadTopic"
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case duplicateHeaders = "DuplicateHeaders"
  case idleTimeout = "IdleTimeout"
  case invalidPushType = "InvalidPushType"
  case missingDeviceToken = "MissingDeviceToken"
  case missingTopic = "MissingTopic"
  case payloadEmpty = "PayloadEmpty"
  case topicDisallowed = "TopicDisallowed"
  case badCertificate = "BadCertificate"
  case badCertificateEnvironment = "BadCertificateEnvironment"
  case badEnvironmentKeyInToken = "BadEnvironmentKeyIdInToken"
  case expiredProviderToken = "ExpiredProviderToken"
  case forbidden = "Forbidden"
  case invalidProviderToken = "InvalidProviderToken"
  case missingProviderToken = "MissingProviderToken"
  case unrelatedKeyInToken = "UnrelatedKeyIdInToken"
  case badPath = "BadPath"
  case methodNotAllowed = "MethodNotAllowed"
  case expiredToken = "ExpiredToken"
  case unregistered = "Unregistered"
  case payloadTooLarge = "PayloadTooLarge"
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case tooManyRequests = "TooManyRequests"
  case internalServerError = "InternalServerError"
  case serviceUnavailable = "ServiceUnavailable"
  case shutdown = "Shutdown"

  /// The HTTP status that comes with the reason.
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
