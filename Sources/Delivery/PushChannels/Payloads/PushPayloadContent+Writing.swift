import Foundation
import JSONCoding

extension PushPayloadContent {
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
    // APNs requires it on every background push. Without it, a push of high priority that shows
    // nothing would have no effect.
    if isContentAvailable || !isVisible { writer.member("content-available", 1) }
    if isContentMutable { writer.member("mutable-content", 1) }
  }

  private func writeCK(to writer: inout JSONWriter) {
    writer.member("ce", environment)
    writer.member("cid", ifPresent: containerIdentifier)
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
