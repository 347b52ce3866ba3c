import CloudKitModel
import Foundation
import JSONCoding
import PropertyTesting
import Testing

@testable import PushChannels

struct PushPayloadPropertyTests {
  @Test("is valid JSON within the limit, has what must stay, and is right where it is not pruned")
  func holds() throws {
    var prunedCount = 0
    for seed in Seeds.some(1_500) {
      var random = RandomNotification(seed: seed)
      let notification = random.next()
      let payload = PushPayload(notification, badge: 7, reader: .apns)
      let whole = PushPayload(notification, badge: 7, reader: .courier)
      if !payload.prunedParts.isEmpty { prunedCount += 1 }
      #expect(payload.bytes.count <= 4096, "seed \(seed)")
      let json = try JSONValue(parsing: Data(payload.bytes))
      let wholeJSON = try JSONValue(parsing: Data(whole.bytes))

      let ck = try #require(json["ck"], "seed \(seed)")
      #expect(ck["ce"] == 2, "seed \(seed)")
      #expect(
        ck["nid"]?.string == notification.change.notificationID.uuidString.lowercased(),
        "seed \(seed)")
      #expect((ck["p"] == 1) == payload.isPruned, "seed \(seed)")
      let kinds = ["qry", "fet", "met"].compactMap { ck[$0] }
      #expect(kinds.count == 1, "seed \(seed)")
      #expect(kinds.first?["sid"]?.string == notification.subscription.subscriptionID)
      #expect(
        kinds.first?["dbs"]?.int == Int64(notification.database.scope.payloadNumber),
        "seed \(seed)")

      let ends = Set(payload.prunedParts.map(\.description))
      var shortened: Set<String> = []
      if ends.contains("end of the body") { shortened = ["aps.alert.", "aps.alert.body."] }
      if ends.contains("end of the subtitle") { shortened.insert("aps.alert.subtitle.") }
      if ends.contains("end of the title") { shortened.insert("aps.alert.title.") }
      expectSubset(json, of: wholeJSON, at: "", shortened: shortened, seed: seed)
      if payload.prunedParts.isEmpty, notification.subscription.notificationInfo != nil {
        #expect(payload.bytes == whole.bytes, "seed \(seed)")
      }
      let aps = try #require(json["aps"], "seed \(seed)")
      let isVisible = aps["alert"] != nil || aps["badge"] != nil || aps["sound"] != nil
      let onlyWakes = aps.object.map { Set($0.keys) } == ["content-available"]
      #expect(payload.kind == (onlyWakes ? .background : .alert), "seed \(seed)")
      #expect(isVisible || aps["content-available"] == 1, "seed \(seed)")
    }
    #expect(prunedCount > 100)
  }

  /// Expects that pruned parts are gone and that the rest agrees with the whole. Marks, and members
  /// that only make sense for a rest, may be new.
  ///
  /// - Parameter shortened: the paths of the texts of which the payload has the beginning only.
  private func expectSubset(
    _ part: JSONValue, of whole: JSONValue, at path: String, shortened: Set<String>, seed: Int
  ) {
    switch (part, whole) {
    case (.object(let members), .object(let all)):
      for (name, member) in members where !["p", "content-available"].contains(name) {
        guard let other = all[name] else {
          if path + name != "aps" { Issue.record("seed \(seed): \(path)\(name) is new") }
          continue
        }
        expectSubset(member, of: other, at: path + name + ".", shortened: shortened, seed: seed)
      }
    case (.string, .object(let all)) where path == "aps.alert.":
      let body = all["body"] ?? .null
      expectSubset(part, of: body, at: "aps.alert.body.", shortened: shortened, seed: seed)
    case (.string(let rest), .string(let body))
    where shortened.contains(path):
      #expect(rest.count >= 100 && rest.count < body.count, "seed \(seed): \(path)")
      #expect(rest == String(body.prefix(rest.count)), "seed \(seed): \(path)")
    default:
      #expect(part == whole, "seed \(seed): \(path)")
    }
  }
}
