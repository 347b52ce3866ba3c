import Foundation
import JSONCoding

extension APNsRequestValidator {
  /// Checks the size and the structure of a payload, and returns the members of its `aps`; nil if
  /// there is no `aps`.
  func checkBody(_ body: [UInt8], limit: Int) throws(APNsRejection) -> [String: JSONValue]? {
    guard !body.isEmpty else { throw APNsRejection(.payloadEmpty, "the payload is missing") }
    guard body.count <= limit else {
      throw APNsRejection(
        .payloadTooLarge, "the payload has \(body.count) bytes; the limit is \(limit)")
    }
    let payload: JSONValue
    do {
      payload = try JSONValue(parsing: Data(body))
    } catch {
      throw APNsRejection(.payloadEmpty, "the payload is \(error)")
    }
    guard let members = payload.object else {
      throw APNsRejection(.payloadEmpty, "the payload is \(payload.kind) instead of an object")
    }
    guard !members.isEmpty else {
      throw APNsRejection(.payloadEmpty, "the payload is an object without members")
    }
    guard let aps = members["aps"] else { return nil }
    guard let apsMembers = aps.object else {
      throw APNsRejection(.payloadEmpty, "aps is \(aps.kind) instead of an object")
    }
    return apsMembers
  }

  /// Checks that the priority and the push type are right for the payload.
  func checkAgreement(
    _ aps: [String: JSONValue]?, priority: Int, pushType: String?
  ) throws(APNsRejection) {
    let keys = Set((aps ?? [:]).keys)
    guard priority != 10 || keys != ["content-available"] else {
      throw APNsRejection(
        .badPriority, "apns-priority is 10 and aps has only content-available; use 5")
    }
    guard pushType == "background" else { return }
    guard priority != 10 else {
      throw APNsRejection(.badPriority, "apns-priority is 10 for a background push; use 5")
    }
    let visible = keys.intersection(["alert", "badge", "sound"])
    guard visible.isEmpty else {
      throw APNsRejection(
        .invalidPushType,
        "apns-push-type is background and aps has \(visible.sorted().joined(separator: ", "))")
    }
    guard aps?["content-available"]?.int == 1 else {
      throw APNsRejection(
        .invalidPushType, "apns-push-type is background and aps has no content-available of 1")
    }
  }
}
