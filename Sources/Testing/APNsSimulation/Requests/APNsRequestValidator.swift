import CloudKitModel
import Foundation
import HTTP2Transport
import JSONCoding

/// Decides whether APNs would accept a request, and with which reason it would refuse it.
///
/// The first rule that a request breaks decides. The order is that of this list:
///
/// | check | reason | source |
/// | --- | --- | --- |
/// | an `apns-…` or `authorization` header comes twice | `DuplicateHeaders` | Apple |
/// | `apns-id` is a UUID | `BadMessageId` | Apple |
/// | the method is POST | `MethodNotAllowed` | Apple |
/// | `apns-topic` is there | `MissingTopic` | Apple |
/// | … and has at most 255 letters, digits, `-`, `.` and `_` | `BadTopic` | the form is our reading |
/// | `apns-collapse-id` has at most 64 bytes | `BadCollapseId` | Apple |
/// | `apns-priority` is 1, 5 or 10 | `BadPriority` | Apple |
/// | `apns-expiration` is a number of seconds | `BadExpirationDate` | Apple |
/// | `apns-push-type` is known | `InvalidPushType` | Apple |
/// | the path is `/3/device/…` with a token | `BadPath`, `MissingDeviceToken` | Apple |
/// | the token is 64 to 200 hexadecimal digits, an even number | `BadDeviceToken` | the lengths are ours |
/// | the device is known for another topic | `DeviceTokenNotForTopic` | Apple |
/// | the client's certificate, if it has shown one, see ``PushCertificate`` | `BadCertificate`, `BadCertificateEnvironment`, `TopicDisallowed` | Apple |
/// | else the provider token, see ``ProviderTokenSession`` | 403, 429 | Apple |
/// | the key is for the environment and the topic | `BadEnvironmentKeyIdInToken`, `TopicDisallowed` | Apple |
/// | there is a body | `PayloadEmpty` | Apple |
/// | … of at most 4096 bytes, 5120 for `voip` | `PayloadTooLarge` | Apple |
/// | … that is a JSON object, whose `aps`, if any, is one | `PayloadEmpty` | ours: no reason is documented |
/// | priority 10 (the default) with something beside `content-available` in `aps` | `BadPriority` | Apple |
/// | type `background` with `content-available`, without alert, badge and sound | `InvalidPushType` | ours: Apple only warns |
///
/// The order of the first checks is that of the mock server in pushy, where Apple is silent.
public struct APNsRequestValidator: Sendable {
  /// The registered keys by their IDs; nil takes any provider token that has the right form and age.
  public var keys: [String: ProviderKey]?
  /// Which of the two services this is.
  public var environment: ContainerEnvironment
  /// Seconds after which a provider token is too old.
  public var providerTokenLifetime: Int64 = 3600
  /// Provider tokens that were issued until then count as expired too.
  var expiredUntil: Timestamp?
  /// The topics of the devices that are known to have some; a device that is not named here takes
  /// any.
  public var topicsOfDevices: [String: Set<String>] = [:]

  public init(keys: [ProviderKey]? = nil, environment: ContainerEnvironment = .development) {
    self.keys = keys.map { Dictionary($0.map { ($0.keyID, $0) }, uniquingKeysWith: { $1 }) }
    self.environment = environment
  }

  /// Throws unless APNs would accept `request` now.
  ///
  /// - Parameters:
  ///   - session: what the connection remembers of provider tokens.
  ///   - certificate: what the client has shown in the TLS handshake.
  /// - Returns: the device token, in lower case.
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

  private func checkDuplicates(_ request: SimulatedRequest) throws(APNsRejection) {
    var seen: Set<String> = []
    for (name, _) in request.headers where name.hasPrefix("apns-") || name == "authorization" {
      guard seen.insert(name).inserted else {
        throw APNsRejection(.duplicateHeaders, "the header '\(name)' comes more than once")
      }
    }
  }

  private func checkIdentifier(_ request: SimulatedRequest) throws(APNsRejection) {
    guard let identifier = request[header: "apns-id"] else { return }
    guard UUID(uuidString: identifier) != nil else {
      throw APNsRejection(.badMessageIdentifier, "apns-id '\(identifier)' is not a UUID")
    }
  }

  private func checkTopic(
    _ request: SimulatedRequest, ofCertificate certified: String?
  ) throws(APNsRejection) -> String {
    guard let topic = request[header: "apns-topic"] ?? certified, !topic.isEmpty else {
      throw APNsRejection(.missingTopic, "there is no apns-topic header")
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
      throw APNsRejection(.invalidPushType, "apns-push-type '\(type)' is not known")
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
