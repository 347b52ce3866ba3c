import CloudKitModel
import Foundation
import HTTP2Transport
import JSONCoding

@testable import APNsSimulation
@testable import CloudKit
@testable import Cryptography
@testable import PushChannels

// Pushes on their ways: what an app receives, what APNs is sent, and what services answer.
extension FuzzTarget {
  static let pushes = [payloads, apnsRequests, serviceAnswers, browserKeys]

  private static let payloadWords =
    [
      "aps", "alert", "title", "body", "loc-key", "loc-args", "badge", "sound",
      "content-available", "mutable-content", "category", "ck", "ce", "cid", "ckuserid", "nid",
      "qry", "fet", "met", "fo", "af", "rid", "zid", "zoid", "dbs", "sid", "aux", "p",
    ].map { "\"\($0)\":" } + ["{", "}", "\"_defaultOwner\"", "1e400", "9223372036854775808"]

  /// A payload as an app receives it.
  private static let payloads = FuzzTarget("payloads", words: payloadWords) { input in
    guard
      let payload = try? JSONSerialization.jsonObject(with: Data(input)) as? [AnyHashable: Any],
      let notification = CKNotification(fromRemoteNotificationDictionary: payload)
    else { return }
    _ = notification.description
    let data = try must("a notification's ID can be archived") {
      try NSKeyedArchiver.archivedData(
        withRootObject: notification.notificationID ?? NSNull(), requiringSecureCoding: true)
    }
    if let identifier = notification.notificationID {
      try hold(
        (try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKNotification.ID.self, from: data))
          == identifier, "an ID that was archived is the same")
    }
  }

  /// Header fields of a push, an empty line, the payload.
  private static let apnsRequests = FuzzTarget(
    "apns-requests", longest: 2048,
    words: payloadWords + [
      "apns-topic: com.example.app\n", "apns-push-type: alert\n", "apns-push-type: background\n",
      "apns-priority: ", "apns-expiration: ", "apns-collapse-id: ", "apns-id: ",
      "authorization: bearer ", "\n\n", "/3/device/",
    ], readsSafeTexts: true
  ) { input in
    let text = input.text
    let head = text.components(separatedBy: "\n\n")[0]
    let body = Array(text.utf8.dropFirst(head.utf8.count + 2))
    var headers = head.split(separator: "\n").map { line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return (
        name: parts[0].lowercased(),
        value: parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
      )
    }
    let path = headers.isEmpty ? "" : headers.removeFirst().name
    let request = SimulatedRequest(method: "POST", path: path, headers: headers, body: body)
    var session = ProviderTokenSession()
    do {
      let device = try APNsRequestValidator(keys: nil).validate(
        request, session: &session, now: Timestamp(milliseconds: 1_790_000_000_000))
      try hold(device == request.deviceToken, "the device is the one of the path")
      try hold(
        read { try JSONValue(parsing: Data(body)) }?.object != nil, "an accepted payload is JSON")
      try hold(body.count <= 5120, "an accepted payload is no longer than APNs takes")
    } catch let rejection as APNsRejection {
      try hold(!rejection.detail.isEmpty, "a rejection says why")
    }
  }

  /// A status, `Retry-After` and a body on lines.
  private static let serviceAnswers = FuzzTarget(
    "service-answers", longest: 512,
    words: [
      "nan", "inf", "-inf", "1e308", "Wed, 21 Oct 2026 07:28:00 GMT", "{\"reason\":\"", "\"}",
      "\"timestamp\":", "BadDeviceToken", "ExpiredProviderToken", "TooManyRequests", "429\n",
      "503\n", "410\n", "\n", "{\"serverErrorCode\":\"THROTTLED\",\"reason\":\"r\",\"uuid\":\"u\"",
      "\"retryAfter\":", "THROTTLED", "TRY_AGAIN_LATER",
    ]
  ) { input in
    let lines = input.split(separator: 10, maxSplits: 2, omittingEmptySubsequences: false)
    let status = min(max(Int(lines[0].text) ?? 503, 200), 599)
    let asked = lines.count > 1 ? lines[1].text : ""
    let body = lines.count > 2 ? Array(lines[2]) : []
    let headers = [("retry-after", asked)]
    let answer = PushAnswer(
      HTTP2Response(status: status, headers: HTTP2Headers(headers), body: body))
    if let delay = answer.delay(attempts: 3, pauses: 3, random: 0.5) { try checkDelay(delay) }
    let now = Timestamp(milliseconds: 1_790_000_000_000)
    if let seconds = RetryAfter.seconds(asked, at: now) {
      try checkDelay(
        PushRetryPolicy.service.delay(attempt: 1, random: 0.5, retryAfter: seconds))
    }
    let error = CKError(
      TransportResponse(status: status, headers: ["retry-after": asked], body: Data(body)))
    _ = error.description
    var policy = OperationRetryPolicy(isPatient: true, resourceTimeout: nil)
    if case .retry(let delay) = policy.handle(
      .busy(retryAfter: error.retryAfterSeconds), elapsed: 0, jitter: 0.5)
    {
      try checkDelay(delay)
    }
  }

  /// A delay that a timer takes.
  private static func checkDelay(_ delay: Double) throws {
    try hold(
      delay.isFinite && delay >= 0 && delay <= 500 * 86_400, "\(delay) is a time that can be waited"
    )
  }

  /// A point and a secret in base64url, as a browser gives them.
  private static let browserKeys = FuzzTarget("browser-keys", longest: 256) { input in
    let parts = input.split(separator: 10, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return }
    for (point, secret) in [
      (Array(parts[0]), Array(parts[1])),
      (Base64URL.decode(parts[0].text) ?? [], Base64URL.decode(parts[1].text) ?? []),
    ] {
      guard
        let keys = read({ try WebPushKeys(publicPoint: point, authentication: secret) })
      else { continue }
      let body = try must("there is a message for keys that were taken") {
        try WebPushEncryption.body(for: [1, 2, 3], to: keys)
      }
      try hold(body.count == 86 + 3 + 1 + 16, "a message has the length that the RFC gives it")
    }
  }
}
