import CloudKitModel
import Foundation
import JSONCoding

/// What is asked of one zone's change feed: the body of `records/changes`, or an item of
/// `changes/zone`.
public struct RecordChangesRequest: Sendable, Hashable {
  public var zoneID: ZoneID
  /// Where to go on; nil begins with everything.
  public var syncToken: String?
  /// Changes in the answer at most; 0 leaves it to the server.
  public var resultsLimit = 0
  /// Whether the newest change comes first.
  public var isReversed = false
  /// The fields that the answer shall hold; nil means all.
  public var desiredKeys: Set<String>?
  /// The types of the records that the answer shall hold; nil means all.
  public var desiredRecordTypes: Set<String>?
  public var numbersAsStrings = false

  public init(zoneID: ZoneID, syncToken: String? = nil) {
    self.zoneID = zoneID
    self.syncToken = syncToken
  }
}

extension RecordChangesRequest: Message, MessageObject {
  package static let schemaName: String? = "ZoneFeedRequest"
  package static let blank = RecordChangesRequest(zoneID: .default)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.written("zoneID", &zoneID)
    try coder.syncToken(&syncToken)
    try coder.resultsLimit(&resultsLimit)
    try coder.optional("reverse", &isReversed, default: false, "Newest first.")
    try coder.desiredKeys(&desiredKeys)
    try coder.optional("desiredRecordTypes", &desiredRecordTypes)
    var isWanted: Bool? = numbersAsStrings ? true : nil
    // Apple's reference has it in the singular here.
    try coder.member(
      "numbersAsStrings", or: ["numberAsStrings"], &isWanted, .optional,
      "`numberAsStrings` is understood too.")
    numbersAsStrings = isWanted ?? numbersAsStrings
  }
}

/// The body of `changes/zone`.
public struct ZoneChangesRequest: Sendable {
  /// In order; zones that could not be read stand as failed items.
  public var zones: [Result<RecordChangesRequest, FailedItem>]

  public init(zones: [RecordChangesRequest]) {
    self.zones = zones.map { .success($0) }
  }
}

extension ZoneChangesRequest: Message {
  /// Reads the zones; keys beside the list count for those that lack them.
  package init(_ reader: MessageReader) throws(ServiceError) {
    let defaults = try RecordChangesRequest(reader)
    zones = try reader.operations("zones").items(of: .zone) { (element) throws(ServiceError) in
      _ = try element.member("zoneID")
      var zone = defaults
      try zone.readMembers(element)
      return zone
    }
  }

  /// Writes the request; failed items are left out.
  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.key("zones")
      writer.array { writer in
        for case .success(let zone) in zones { zone.write(to: &writer, context: context) }
      }
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    let zone = RecordChangesRequest.schema(in: scope)
    let named = JSONSchema.all(of: [
      zone, JSONSchema(["type": "object", "required": ["zoneID"]]),
    ])
    return JSONSchema.all(of: [
      zone,
      .object(
        ["zones": .list(named, count: 0...ServiceLimits.operationsPerRequest)], isOpen: true),
    ]).described("Members beside `zones` count for those zones that lack them.")
  }
}

extension MessageReader {
  /// The member `clientChangeTokenData`, where there is one: bytes in base64.
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
