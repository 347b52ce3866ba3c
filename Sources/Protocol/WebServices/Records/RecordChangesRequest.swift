import CloudKitModel
import Foundation
import JSONCoding

/// A request for one zone's change feed: the body of `records/changes`, or an item of
/// `changes/zone`.
///
/// ```
/// { "zoneID": { "zoneName": "Notes" }, "syncToken": "…", "resultsLimit": 100 }
/// ```
public struct RecordChangesRequest: Sendable, Hashable {
  /// The zone whose changes are fetched.
  public var zoneID: ZoneID
  /// The token of an earlier answer; nil starts at the beginning of the feed.
  public var syncToken: String?
  /// The largest number of changes in the answer. 0 leaves the number to the server.
  public var resultsLimit = 0
  /// Whether the newest change comes first.
  public var isReversed = false
  /// The fields of the records in the answer; nil means all.
  public var desiredKeys: Set<String>?
  /// The types of the records in the answer; nil means all.
  public var desiredRecordTypes: Set<String>?
  /// Whether the answer has integers and doubles as strings.
  public var numbersAsStrings = false

  /// Creates a request for the default page size, all fields and all types.
  public init(zoneID: ZoneID, syncToken: String? = nil) {
    self.zoneID = zoneID
    self.syncToken = syncToken
  }
}

extension RecordChangesRequest: Message, MessageObject {
  package static let schemaName: String? = "ZoneFeedRequest"
  package static let blank = RecordChangesRequest(zoneID: .default)

  /// Passes the members to the coder. A request without a zone means the default zone.
  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.written("zoneID", &zoneID)
    try coder.syncToken(&syncToken)
    try coder.resultsLimit(&resultsLimit)
    try coder.optional(
      "reverse", &isReversed, default: false, "Whether the newest changes come first.")
    try coder.desiredKeys(&desiredKeys)
    try coder.optional("desiredRecordTypes", &desiredRecordTypes)
    var isWanted: Bool? = numbersAsStrings ? true : nil
    // Apple's reference has the singular `numberAsStrings` for this operation.
    try coder.member(
      "numbersAsStrings", or: ["numberAsStrings"], &isWanted, .optional,
      "`numberAsStrings` is also accepted.")
    numbersAsStrings = isWanted ?? numbersAsStrings
  }
}

/// The body of `changes/zone`: it asks for the change feeds of several zones.
///
/// ```
/// { "resultsLimit": 50,
///   "zones": [ { "zoneID": { "zoneName": "Notes" }, "syncToken": "…" },
///              { "zoneID": { "zoneName": "Photos" }, "resultsLimit": 10 } ] }
/// ```
public struct ZoneChangesRequest: Sendable {
  /// The zones, in the order of the request. A zone that could not be read is a failed item.
  public var zones: [Result<RecordChangesRequest, FailedItem>]

  /// Creates a request.
  public init(zones: [RecordChangesRequest]) {
    self.zones = zones.map { .success($0) }
  }
}

extension ZoneChangesRequest: Message {
  /// Reads the zones. A member beside the list `zones` is the default for zones without this
  /// member. Each zone must have its own `zoneID`.
  package init(_ reader: MessageReader) throws(ServiceError) {
    let defaults = try RecordChangesRequest(reader)
    zones = try reader.operations("zones").items(of: .zone) { (element) throws(ServiceError) in
      _ = try element.member("zoneID")
      var zone = defaults
      try zone.readMembers(element)
      return zone
    }
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.key("zones")
      writer.array { writer in
        for case .success(let zone) in zones { zone.write(to: &writer, context: context) }
      }
    }
  }

  /// The schema of the request: the list `zones`, and beside the list the members of a zone's
  /// request as defaults.
  package static func schema(in scope: SchemaScope) -> JSONSchema {
    let zone = RecordChangesRequest.schema(in: scope)
    let named = JSONSchema.all(of: [
      zone, JSONSchema(["type": "object", "required": ["zoneID"]]),
    ])
    return JSONSchema.all(of: [
      zone,
      .object(
        ["zones": .list(named, count: 0...ServiceLimits.operationsPerRequest)], isOpen: true),
    ]).described("Members beside `zones` are the defaults for zones without them.")
  }
}

extension MessageReader {
  /// Returns the bytes of the member `clientChangeTokenData`; nil when there is none.
  ///
  /// - Throws: `BAD_REQUEST` for a text that is not base64, and for more than
  ///   `ServiceLimits.clientChangeTokenSize` bytes.
  func clientChangeTokenData() throws(ServiceError) -> Data? {
    guard let member = try optional("clientChangeTokenData") else { return nil }
    guard let data = Data(base64Encoded: try member.string()) else {
      throw member.mistake("must be base64")
    }
    let limit = ServiceLimits.clientChangeTokenSize
    guard data.count <= limit else {
      throw member.mistake("has \(data.count) bytes; the limit is \(limit)")
    }
    return data
  }
}
