import CloudKitModel
import Foundation
import JSONCoding

/// The settings for writing the records of an answer.
public struct RecordDetail: Sendable, Hashable {
  /// The fields to write; nil means all.
  public var desiredKeys: Set<String>?
  /// Whether integers and doubles are written as strings. JavaScript's numbers are exact only up to
  /// 53 bits.
  public var numbersAsStrings: Bool

  /// Creates settings.
  public init(desiredKeys: Set<String>? = nil, numbersAsStrings: Bool = false) {
    self.desiredKeys = desiredKeys
    self.numbersAsStrings = numbersAsStrings
  }
}

/// The answer of `records/modify`, `records/lookup` and `records/query`.
///
/// ```
/// { "records": [ { "recordName": "n-1", "recordType": "Note", "fields": { … }, … },
///                { "recordName": "n-2", "zoneID": { … }, "deleted": true } ] }
/// ```
public struct RecordsResponse: Sendable {
  /// A successful item of the answer.
  public enum Item: Sendable, Hashable {
    /// A record.
    case record(Record)
    /// A record that the request deleted.
    case deleted(RecordID)
  }

  /// The results, and the errors of items that failed. For `records/modify` and `records/lookup`
  /// they are in the order of the request.
  public var records: [Result<Item, FailedItem>]
  /// The marker for the next page of `records/query`; nil when there are no more records.
  public var continuationMarker: String?
  /// Sentences for the app's developer on why `records/query` found nothing.
  public var hints: [String] = []

  /// The settings for writing the records. They are not part of the message.
  public var detail = RecordDetail()
  /// The fields of single items, by the item's index from 0. Other items have the fields of
  /// ``detail``.
  public var itemDesiredKeys: [Int: Set<String>] = [:]

  /// Creates an answer.
  public init(records: [Result<Item, FailedItem>], continuationMarker: String? = nil) {
    self.records = records
    self.continuationMarker = continuationMarker
  }
}

extension RecordsResponse: Message {
  package var approximateSize: Int { 512 * (records.count + 1) }

  /// Reads an answer. ``detail`` keeps its default value, because the message does not contain the
  /// settings.
  package init(_ reader: MessageReader) throws(ServiceError) {
    records = try [Result<Item, FailedItem>](reader.member("records"))
    continuationMarker = try reader.optionalString("continuationMarker")
    hints = try reader.optionalStrings("hints") ?? []
  }

  /// Writes the answer. A record has the fields that ``itemDesiredKeys`` names for its index,
  /// otherwise those of ``detail``.
  package func write(to writer: inout JSONWriter, context: MessageContext) {
    var context = context
    context.numbersAsStrings = context.numbersAsStrings || detail.numbersAsStrings
    writer.object { writer in
      writer.key("records")
      writer.array { writer in
        for (index, item) in records.enumerated() {
          switch item {
          case .success(.record(let record)):
            record.write(
              to: &writer, context: context,
              desiredKeys: itemDesiredKeys[index] ?? detail.desiredKeys)
          case .success(.deleted), .failure: item.write(to: &writer, context: context)
          }
        }
      }
      writer.member("continuationMarker", ifPresent: continuationMarker)
      writer.member("hints", ifPresent: hints.isEmpty ? nil : hints)
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    JSONSchema.object([
      "records": [Result<Item, FailedItem>].schema(in: scope),
      "continuationMarker?": JSONSchema.text.described(
        "Only from records/query, if there are more records. Send the same query again with it."),
      "hints?": JSONSchema.list(.text).described(
        "Petrel's own: which fields of a query without results the schema does not have. Only in development."
      ),
    ]).named("RecordsResponse")
  }
}

extension RecordsResponse.Item: MessagePart {
  /// Reads an item. `"deleted": true` marks a deleted record.
  package init(_ reader: MessageReader) throws(ServiceError) {
    guard try reader.optionalBool("deleted") == true else {
      self = .record(try Record(reader))
      return
    }
    self = .deleted(
      RecordID(
        recordName: try reader.member("recordName").string(),
        zoneID: try reader.zoneID() ?? .default))
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    switch self {
    case .record(let record): record.write(to: &writer, context: context)
    case .deleted(let recordID):
      writer.object { writer in
        writer.member("recordName", recordID.recordName)
        writer.key("zoneID")
        recordID.zoneID.write(to: &writer, context: context)
        writer.member("deleted", true)
      }
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    .any(of: [
      Record.schema(in: scope),
      JSONSchema.object([
        "recordName": .text, "zoneID": ZoneID.schema(in: scope), "deleted": .constant(true),
      ]).named("DeletedRecord"),
    ])
  }
}
