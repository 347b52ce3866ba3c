import CloudKitModel
import Foundation
import JSONCoding

/// A part of one zone's change feed: the answer of `records/changes`, or an item of that of
/// `changes/zone`.
public struct RecordChangesResponse: Sendable, Hashable {
  public var zoneID: ZoneID
  public var changes: [RecordChange]
  /// Stands for what was read up to here.
  public var syncToken: String
  /// Whether there is more to read now.
  public var moreComing: Bool
  /// What the asking device left with its last changes of the zone. Petrel's addition: Apple's
  /// native client gets it over its own protocol.
  public var clientChangeTokenData: Data?
  public var detail = RecordDetail()

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

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    let deleted = JSONSchema.object([
      "recordName": .text, "recordType": .text, "zoneID": ZoneID.schema(in: scope),
      "deleted": .constant(true),
    ])
    return JSONSchema.object([
      "zoneID": ZoneID.schema(in: scope),
      "records": .list(
        .any(of: [Record.schema(in: scope), deleted]), count: 0...ServiceLimits.recordsPerPage),
      "syncToken": JSONSchema.text.described("Send it to go on from here."), "moreComing": .bool,
      "clientChangeTokenData?": JSONSchema.text.described(
        "Petrel's own: what the same device sent with its last changes of the zone."),
    ]).named("ZoneFeed")
  }
}

extension RecordChange {
  /// - Parameter zoneID: the zone of a record that does not name it.
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

/// The answer of `changes/zone`.
public struct ZoneChangesResponse: Sendable {
  public var zones: [Result<RecordChangesResponse, FailedItem>]

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
