import CloudKitModel
import Foundation

@testable import Storage

// Rows of a store whose file others can write.
extension FuzzTarget {
  static let storedBytes = [recordRows, subscriptionRows, notificationRows, valueRows]

  private static let recordID = RecordID(recordName: "r")

  private static func content(_ record: Record) -> [UInt8] {
    var encoder = RowEncoder()
    encoder.encodeContent(of: record)
    return encoder.bytes
  }

  private static let projections = [
    RecordProjection(for: Query(recordType: "T")),
    RecordProjection(
      for: Query(
        recordType: "T", filters: [Filter(.field("a"), .equals, .int64(1))],
        sortKeys: [SortKey(.system(.createdTimestamp))])),
    RecordProjection(
      for: Query(
        recordType: "T",
        filters: [
          Filter(.system(.parent), .equals, .reference(Reference(recordName: "p"))),
          Filter(.allText, .containsAnyTokens, .string("w")),
        ])),
  ]

  private static let recordRows = FuzzTarget("record-rows") { input in
    func record(_ bytes: [UInt8], _ projection: RecordProjection? = nil) throws -> Record {
      var record = Record(recordID: recordID, recordType: "T")
      var decoder = try RowDecoder(bytes, of: "record")
      if let projection {
        try decoder.decode(projection, into: &record)
      } else {
        try decoder.decodeContent(into: &record)
      }
      try decoder.finish()
      return record
    }
    let bytes = [RowEncoder.version] + input
    let looks = projections.map { projection in read { try record(bytes, projection) } }
    guard let whole = read({ try record(bytes) }) else { return }
    let written = content(whole)
    let again = try must("a record that was written is read") { try record(written) }
    try hold(content(again) == written, "a record that was written is the same")
    for (projection, look) in zip(projections, looks) {
      guard let look else { throw Violation(description: "a projection reads what is whole") }
      if let names = projection.fields {
        for name in names {
          // As text, for there are numbers that do not equal themselves.
          let (seen, there): (RecordValue?, RecordValue?) = (look.fields[name], whole.fields[name])
          try hold("\(seen as Any)" == "\(there as Any)", "a projection sees the same '\(name)'")
        }
      }
    }
  }

  private static let subscriptionRows = FuzzTarget("subscription-rows") { input in
    let bytes = [RowEncoder.version] + input
    let kind = read { try Subscription(row: bytes, only: Subscription.kindTags).kind.name }
    guard let first = read({ try Subscription(row: bytes) }) else { return }
    try hold(kind == first.kind.name, "a look at a subscription's kind sees the same")
    let written = first.row()
    let again = try must("a subscription that was written is read") {
      try Subscription(row: written)
    }
    try hold(again.row() == written, "a subscription that was written is the same")
  }

  private static let notificationRows = FuzzTarget("notification-rows") { input in
    let address = DatabaseAddress(
      container: "iCloud.a", environment: .development, scope: .public, owner: nil)
    func notification(_ bytes: [UInt8]) throws -> SubscriptionNotification {
      try SubscriptionNotification(stored: bytes, database: address, subscriber: "_anna")
    }
    guard let first = read({ try notification([RowEncoder.version] + input) }) else { return }
    let written = first.storedContent
    let again = try must("a notification that was written is read") { try notification(written) }
    try hold(again.storedContent == written, "a notification that was written is the same")
  }

  /// A value, and its keys in the index.
  private static let valueRows = FuzzTarget("value-rows") { input in
    func value(_ bytes: [UInt8]) throws -> RecordValue {
      var decoder = try RowDecoder(bytes, of: "value")
      let value = try RecordValue(from: &decoder)
      try decoder.finish()
      return value
    }
    guard let first = read({ try value([RowEncoder.version] + input) }) else { return }
    var encoder = RowEncoder()
    encoder.encode(first)
    let again = try must("a value that was written is read") { try value(encoder.bytes) }
    var second = RowEncoder()
    second.encode(again)
    try hold(second.bytes == encoder.bytes, "a value that was written is the same")
    _ = (ValueKey.keys(of: first), ValueKey.tokenKeys(of: first))
  }
}
