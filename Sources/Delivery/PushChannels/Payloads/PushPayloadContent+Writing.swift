import Foundation
import JSONCoding

extension PushPayloadContent {
  /// Returns the payload as UTF-8 JSON. The keys are in the order of iCloud's payloads.
  func json() -> [UInt8] {
    var writer = JSONWriter(reserving: 1024)
    writer.object { writer in
      if hasAPS {
        writer.key("aps")
        writer.object { writeAPS(to: &$0) }
      }
      writer.key("ck")
      writer.object { writeCK(to: &$0) }
    }
    return writer.bytes
  }

  private func writeAPS(to writer: inout JSONWriter) {
    alert.write(to: &writer)
    if let badge { writer.member("badge", badge) }
    writer.member("sound", ifPresent: sound)
    writer.member("category", ifPresent: category)
    // APNs requires `content-available` on every background push. It is also written for other
    // pushes that show nothing, which would otherwise have no effect.
    if isContentAvailable || !isVisible { writer.member("content-available", 1) }
    if isContentMutable { writer.member("mutable-content", 1) }
  }

  /// Writes the members of `ck`.
  ///
  /// All kinds of notifications have these members: `ce` (environment), `cid` (container),
  /// `ckuserid` (subscriber) and `nid` (notification ID). `aux` is an empty object, as in recent
  /// payloads of iCloud. `p` marks a pruned payload.
  ///
  /// The member of the kind (`qry`, `fet` or `met`) has `sid` (subscription ID), `dbs` (database),
  /// `fo` (reason) and `rid` (record name). It also has `zid` (zone name), `zoid` (zone owner) and
  /// `af` (desired values). `rt` (record type) is an addition of Petrel.
  private func writeCK(to writer: inout JSONWriter) {
    writer.member("ce", environment)
    writer.member("cid", containerIdentifier)
    writer.member("ckuserid", ifPresent: subscriber)
    writer.member("nid", notificationID.uuidString.lowercased())
    writer.key("aux")
    writer.object { _ in }
    if !prunedParts.isEmpty { writer.member("p", 1) }
    writer.key(kind.rawValue)
    writer.object { writer in
      writer.member("sid", subscriptionID)
      writer.member("dbs", scope.payloadNumber)
      if let reason { writer.member("fo", reason.rawValue) }
      writer.member("rid", ifPresent: recordName)
      writer.member("rt", ifPresent: recordType)
      writer.member("zid", ifPresent: zone?.name)
      writer.member("zoid", ifPresent: zone?.owner)
      if !desiredValues.isEmpty {
        writer.key("af")
        writer.object { writer in
          for field in desiredValues { field.write(to: &writer) }
        }
      }
    }
  }
}
