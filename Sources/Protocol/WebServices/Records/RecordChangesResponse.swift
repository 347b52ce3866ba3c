import CloudKitModel
import Foundation
import JSONCoding

/// A page of one zone's change feed: the answer of `records/changes`, or an item of the answer of
/// `changes/zone`.
///
/// ```
/// { "zoneID": { "zoneName": "Notes", "zoneType": "REGULAR_CUSTOM_ZONE" },
///   "records": [ … ], "syncToken": "…", "moreComing": false }
/// ```
public struct RecordChangesResponse: Sendable, Hashable {
  /// The zone of the page.
  public var zoneID: ZoneID
  /// The changes. Each record appears once, with its latest state.
  public var changes: [RecordChange]
  /// The token with which the next request continues after this page.
  public var syncToken: String
  /// Whether the feed has more changes after this page.
  public var moreComing: Bool
  /// The data that the same device sent with its last changes of the zone. Petrel's addition:
  /// Apple's native client receives the data over another protocol.
  public var clientChangeTokenData: Data?
  /// The settings for writing the records. They are not part of the message.
  public var detail = RecordDetail()

  /// Creates a page.
  public init(
    zoneID: ZoneID, changes: [RecordChange], syncToken: String, moreComing: Bool,
    clientChangeTokenData: Data? = nil
  ) {
    self.zoneID = zoneID
    self.changes = changes
    self.syncToken = syncToken
    self.moreComing = moreComing
    self.clientChangeTokenData = clientChangeTokenData
  }
}

extension RecordChangesResponse: Message {
  package var approximateSize: Int { 512 * (changes.count + 1) }

  /// Reads a page. Data that is not base64 is left out of ``clientChangeTokenData``.
  package init(_ reader: MessageReader) throws(ServiceError) {
    let zoneID = try reader.zoneID() ?? .default
    self.init(
      zoneID: zoneID, changes: [], syncToken: try reader.member("syncToken").string(),
      moreComing: try reader.optionalBool("moreComing") ?? false)
    for element in try reader.member("records").elements() {
      changes.append(try RecordChange(element, zoneID: zoneID))
    }
    clientChangeTokenData = try reader.optionalString("clientChangeTokenData").flatMap {
      Data(base64Encoded: $0)
    }
  }

  /// Writes a page. The settings of ``detail`` apply to the records, not to the page itself.
  package func write(to writer: inout JSONWriter, context: MessageContext) {
    var recordContext = context
    recordContext.numbersAsStrings = detail.numbersAsStrings
    writer.object { writer in
      writer.key("zoneID")
      AnsweredZone(zoneID).write(to: &writer, context: context)
      writer.key("records")
      writer.array { writer in
        for change in changes {
          change.write(to: &writer, context: recordContext, desiredKeys: detail.desiredKeys)
        }
      }
      writer.member("syncToken", syncToken)
      writer.member("moreComing", moreComing)
      writer.member(
        "clientChangeTokenData", ifPresent: clientChangeTokenData?.base64EncodedString())
    }
  }

  /// The schema of a page. A record in it is either complete or deleted.
  package static func schema(in scope: SchemaScope) -> JSONSchema {
    let deleted = JSONSchema.object([
      "recordName": .text, "recordType": .text, "zoneID": ZoneID.schema(in: scope),
      "deleted": .constant(true),
    ])
    return JSONSchema.object([
      "zoneID": ZoneID.schema(in: scope),
      "records": .list(
        .any(of: [Record.schema(in: scope), deleted]), count: 0...ServiceLimits.recordsPerPage),
      "syncToken": JSONSchema.text.described("Send it to get the next changes."),
      "moreComing": .bool,
      "clientChangeTokenData?": JSONSchema.text.described(
        "Petrel's own: the data that the same device sent with its last changes of the zone."),
    ]).named("ZoneFeed")
  }
}

extension RecordChange {
  /// - Parameter zoneID: The zone of a record that does not name its own.
  fileprivate init(_ reader: MessageReader, zoneID: ZoneID) throws(ServiceError) {
    let named = try reader.zoneID()
    guard try reader.optionalBool("deleted") == true else {
      var record = try Record(reader)
      record.recordID.zoneID = named ?? zoneID
      self = .saved(record)
      return
    }
    self = .deleted(
      RecordID(
        recordName: try reader.member("recordName").string(), zoneID: named ?? zoneID),
      recordType: try reader.optionalString("recordType") ?? "")
  }

  /// Writes the record, or the identifiers of a deleted one with `"deleted": true`.
  fileprivate func write(
    to writer: inout JSONWriter, context: MessageContext, desiredKeys: Set<String>?
  ) {
    switch self {
    case .saved(let record):
      record.write(to: &writer, context: context, desiredKeys: desiredKeys)
    case .deleted(let recordID, let recordType):
      writer.object { writer in
        writer.member("recordName", recordID.recordName)
        writer.member("recordType", recordType)
        writer.key("zoneID")
        recordID.zoneID.write(to: &writer, context: context)
        writer.member("deleted", true)
      }
    }
  }
}

/// The answer of `changes/zone`: one page for each zone, in the order of the request.
public struct ZoneChangesResponse: Sendable {
  /// The pages, and the errors of zones that failed.
  public var zones: [Result<RecordChangesResponse, FailedItem>]

  /// Creates an answer.
  public init(zones: [Result<RecordChangesResponse, FailedItem>]) {
    self.zones = zones
  }
}

extension ZoneChangesResponse: Message, MessageObject {
  package static let blank = ZoneChangesResponse(zones: [])

  package var approximateSize: Int {
    zones.reduce(256) { size, zone in
      if case .success(let page) = zone { size + page.approximateSize } else { size + 512 }
    }
  }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("zones", &zones, "One item for each zone, in order.")
  }
}
