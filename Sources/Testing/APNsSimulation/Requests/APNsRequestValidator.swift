import CloudKitModel
import Foundation
import HTTP2Transport
import JSONCoding

/// The rules by which APNs accepts or refuses a request, as a value without I/O.
///
/// The first rule that a request breaks decides. The list has the rules in their order, each with
/// the reason (``APNsReason``) for a request that breaks it. Apple documents the rules, except
/// those with the word "ours".
///
/// 1. No `apns-…` or `authorization` header comes twice: `DuplicateHeaders`.
/// 2. `apns-id`, if there is one, is a UUID: `BadMessageId`.
/// 3. The method is POST: `MethodNotAllowed`.
/// 4. There is an `apns-topic`, or a certificate with a topic: `MissingTopic`.
/// 5. The topic has at most 255 letters, digits, `-`, `.` and `_` (ours): `BadTopic`.
/// 6. `apns-collapse-id` has at most 64 bytes: `BadCollapseId`.
/// 7. `apns-priority` is 1, 5 or 10: `BadPriority`.
/// 8. `apns-expiration` is a number of seconds: `BadExpirationDate`.
/// 9. `apns-push-type` is known: `InvalidPushType`.
/// 10. The path is `/3/device/…` with a token: `BadPath`, `MissingDeviceToken`.
/// 11. The token is an even number of hexadecimal digits, from 64 to 200 (the lengths are ours):
///   `BadDeviceToken`.
/// 12. If ``topicsOfDevices`` has the device, the topic is one of the device's topics:
///   `DeviceTokenNotForTopic`.
/// 13. If the client showed a certificate, it is valid for the environment and the topic
///   (``PushCertificate``): `BadCertificate`, `BadCertificateEnvironment`, `TopicDisallowed`.
/// 14. If the client showed no certificate, the provider token is valid (``ProviderTokenSession``):
///   a reason with status 403 or 429.
/// 15. The key of the provider token is for the environment and the topic:
///   `BadEnvironmentKeyIdInToken`, `TopicDisallowed`.
/// 16. There is a body: `PayloadEmpty`.
/// 17. The body has at most 4,096 bytes, or 5,120 for `voip`: `PayloadTooLarge`.
/// 18. The body is a JSON object with members, and `aps` is an object if there is one (ours):
///   `PayloadEmpty`.
/// 19. With priority 10, which is the default, `content-available` is not the only member of `aps`:
///   `BadPriority`.
/// 20. A push of type `background` has priority 1 or 5: `BadPriority`.
/// 21. A push of type `background` has a `content-available` of 1 and no alert, badge or sound
///   (ours, as Apple only warns): `InvalidPushType`.
///
/// Apple does not document the order of the first rules. The simulator has the order of the mock
/// server of pushy, a Java library for APNs.
public struct APNsRequestValidator: Sendable {
  /// The registered keys by their IDs. Nil accepts every provider token with the right format and
  /// age.
  public var keys: [String: ProviderKey]?
  /// The APNs environment of the simulated service.
  public var environment: ContainerEnvironment
  /// The seconds after which a provider token is too old.
  public var providerTokenLifetime: Int64 = 3600
  /// Provider tokens that were issued up to this time count as expired; nil for no such tokens.
  var expiredUntil: Timestamp?
  /// The topics for which each device token is valid, by tokens in lower case. A device that is
  /// missing here accepts any topic.
  public var topicsOfDevices: [String: Set<String>] = [:]

  /// Creates the rules of a service, by default for the sandbox and any key.
  public init(keys: [ProviderKey]? = nil, environment: ContainerEnvironment = .development) {
    self.keys = keys.map { Dictionary($0.map { ($0.keyID, $0) }, uniquingKeysWith: { $1 }) }
    self.environment = environment
  }

  /// Checks that APNs would accept `request` at the time `now`.
  ///
  /// - Parameters:
  ///   - session: the connection's state for the checks of provider tokens. An accepted token
  ///     changes the state, also if the request breaks a later rule.
  ///   - certificate: the certificate that the client showed in the TLS handshake; nil for none.
  /// - Returns: the device token, in lower case.
  /// - Throws: the refusal for the first rule that the request breaks.
  @discardableResult
  public func validate(
    _ request: SimulatedRequest, session: inout ProviderTokenSession,
    certificate: TLSPeerCertificate? = nil, now: Timestamp
  ) throws(APNsRejection) -> String {
    try checkDuplicates(request)
    try checkIdentifier(request)
    guard request.method == "POST" else {
      throw APNsRejection(.methodNotAllowed, "the method is \(request.method) instead of POST")
    }
    let topic = try checkTopic(
      request,
      ofCertificate: certificate.flatMap { PushCertificate(commonName: $0.commonName).topic })
    try checkCollapseIdentifier(request)
    let priority = try checkPriority(request)
    try checkExpiration(request)
    let pushType = try checkPushType(request)
    let token = try checkDeviceToken(request, topic: topic)
    if let certificate {
      guard try PushCertificate(certificate, in: environment).allows(topic) else {
        throw APNsRejection(
          .topicDisallowed,
          "the certificate '\(certificate.commonName)' is not for topic '\(topic)'")
      }
    } else {
      try session.check(
        authorization: request[header: "authorization"], keys: keys, now: now,
        lifetime: providerTokenLifetime, expiry: expiredUntil)
      try checkKey(session.accepted?.key, topic: topic)
    }
    let aps = try checkBody(request.body, limit: pushType == "voip" ? 5120 : 4096)
    try checkAgreement(aps, priority: priority, pushType: pushType)
    return token
  }

  /// Checks that no `apns-…` or `authorization` header comes twice.
  private func checkDuplicates(_ request: SimulatedRequest) throws(APNsRejection) {
    var seen: Set<String> = []
    for (name, _) in request.headers where name.hasPrefix("apns-") || name == "authorization" {
      guard seen.insert(name).inserted else {
        throw APNsRejection(.duplicateHeaders, "the header '\(name)' appears more than once")
      }
    }
  }

  private func checkIdentifier(_ request: SimulatedRequest) throws(APNsRejection) {
    guard let identifier = request[header: "apns-id"] else { return }
    guard UUID(uuidString: identifier) != nil else {
      throw APNsRejection(.badMessageIdentifier, "apns-id '\(identifier)' is not a UUID")
    }
  }

  /// Returns the topic of the header `apns-topic`, or the certificate's topic if there is no such
  /// header.
  private func checkTopic(
    _ request: SimulatedRequest, ofCertificate certified: String?
  ) throws(APNsRejection) -> String {
    guard let topic = request[header: "apns-topic"] ?? certified, !topic.isEmpty else {
      throw APNsRejection(.missingTopic, "the apns-topic header is missing")
    }
    let isWellFormed = topic.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isWellFormed, topic.utf8.count <= 255 else {
      throw APNsRejection(.badTopic, "apns-topic '\(topic)' is not a bundle ID")
    }
    return topic
  }

  private func checkCollapseIdentifier(_ request: SimulatedRequest) throws(APNsRejection) {
    let size = request[header: "apns-collapse-id"]?.utf8.count ?? 0
    guard size <= ServiceLimits.collapseIdentifierSize else {
      throw APNsRejection(
        .badCollapseIdentifier,
        "apns-collapse-id has \(size) bytes; the limit is \(ServiceLimits.collapseIdentifierSize)")
    }
  }

  private func checkPriority(_ request: SimulatedRequest) throws(APNsRejection) -> Int {
    switch request[header: "apns-priority"] {
    case nil, "10": return 10
    case "5": return 5
    case "1": return 1
    case let other?:
      throw APNsRejection(.badPriority, "apns-priority is '\(other)' instead of 1, 5 or 10")
    }
  }

  private func checkExpiration(_ request: SimulatedRequest) throws(APNsRejection) {
    guard let expiration = request[header: "apns-expiration"] else { return }
    guard !expiration.isEmpty, expiration.utf8.allSatisfy(Self.isDigit),
      Int64(expiration) != nil
    else {
      throw APNsRejection(
        .badExpirationDate, "apns-expiration '\(expiration)' is not a number of seconds since 1970")
    }
  }

  private func checkPushType(_ request: SimulatedRequest) throws(APNsRejection) -> String? {
    guard let type = request[header: "apns-push-type"] else { return nil }
    guard Self.pushTypes.contains(type) else {
      throw APNsRejection(.invalidPushType, "apns-push-type '\(type)' is unknown")
    }
    return type
  }

  private func checkDeviceToken(
    _ request: SimulatedRequest, topic: String
  ) throws(APNsRejection) -> String {
    let isDevicePath =
      request.path.hasPrefix(SimulatedRequest.devicePath) || request.path == "/3/device"
    guard isDevicePath else {
      throw APNsRejection(.badPath, "the path '\(request.path)' is not /3/device/ and a token")
    }
    guard let token = request.deviceToken else {
      throw APNsRejection(.missingDeviceToken, "the path ends before the device token")
    }
    let count = token.utf8.count
    guard (64...200).contains(count), count.isMultiple(of: 2),
      token.utf8.allSatisfy(Self.isHexadecimal)
    else {
      throw APNsRejection(
        .badDeviceToken, "'\(token)' is not an even number of 64 to 200 hexadecimal digits")
    }
    if let topics = topicsOfDevices[token], !topics.contains(topic) {
      throw APNsRejection(
        .deviceTokenNotForTopic,
        "the device token is for \(topics.sorted().joined(separator: ", ")), not for \(topic)")
    }
    return token
  }

  /// Checks that the key of the provider token may send to the topic in this environment. If `key`
  /// is nil, keys are not checked.
  private func checkKey(_ key: ProviderKey?, topic: String) throws(APNsRejection) {
    if let restricted = key?.environment, restricted != environment {
      throw APNsRejection(
        .badEnvironmentKeyInToken,
        "the key is only for \(restricted.rawValue), this service is \(environment.rawValue)")
    }
    if let topics = key?.topics, !topics.contains(topic) {
      throw APNsRejection(.topicDisallowed, "the key may not send to topic '\(topic)'")
    }
  }

  private static let pushTypes: Set<String> = [
    "alert", "background", "location", "voip", "complication", "fileprovider", "mdm",
    "liveactivity", "pushtotalk", "widgets", "controls",
  ]

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}
