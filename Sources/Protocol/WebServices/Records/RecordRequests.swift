import CloudKitModel
import Foundation
import JSONCoding

/// The body of `records/modify`.
public struct ModifyRecordsRequest: Sendable {
  /// In order; operations that could not be read stand as failed items.
  public var operations: [Result<RecordOperation, FailedItem>]
  public var isAtomic: Bool
  /// The fields that the answer shall hold; nil means all.
  public var desiredKeys: Set<String>?
  /// The fields of single operations' answers, by their place in the request.
  public var itemDesiredKeys: [Int: Set<String>] = [:]
  public var numbersAsStrings: Bool
  /// What the device wants to be told by its later fetches from the zones changed here. Petrel's
  /// addition: Apple's native client sends it over its own protocol.
  public var clientChangeTokenData: Data?
  /// Names the request, so that a server that gets it again carries out only what it has not yet.
  /// Petrel's addition: after a lost answer a client may send the same request again.
  public var requestID: String?

  /// Whether each operation names its record, so that the server chooses no name.
  public private(set) var namesAllRecords = true

  public init(
    operations: [RecordOperation], isAtomic: Bool, desiredKeys: Set<String>? = nil,
    requestID: String? = nil
  ) {
    self.operations = operations.map { .success($0) }
    self.isAtomic = isAtomic
    self.desiredKeys = desiredKeys
    self.requestID = requestID
    self.numbersAsStrings = false
  }

}

extension ModifyRecordsRequest: Message {
  package var approximateSize: Int { 256 * (operations.count + 1) }

  package init(_ reader: MessageReader) throws(ServiceError) {
    let zoneID = try reader.zoneID() ?? .default
    let list = try reader.operations("operations")
    var namesAllRecords = true
    operations = try list.items(of: .record) { (element) throws(ServiceError) in
      if try element.optional("record")?.optional("recordName") == nil { namesAllRecords = false }
      return try RecordOperation(element, zoneID: zoneID)
    }
    self.namesAllRecords = namesAllRecords
    itemDesiredKeys = try list.itemDesiredKeys()
    isAtomic = try reader.optionalBool("atomic") ?? true
    desiredKeys = try reader.optionalStrings("desiredKeys").map(Set.init)
    numbersAsStrings = try reader.optionalBool("numbersAsStrings") ?? false
    clientChangeTokenData = try reader.clientChangeTokenData()
    requestID = try reader.optionalString("requestID")
    if let requestID, requestID.isEmpty || requestID.utf8.count > ServiceLimits.nameLength {
      throw try reader.member("requestID").mistake(
        "must have 1 to \(ServiceLimits.nameLength) bytes")
    }
  }

  /// Writes the request; failed items are left out.
  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.member("atomic", isAtomic)
      writer.member("requestID", ifPresent: requestID)
      writer.member("desiredKeys", ifPresent: desiredKeys.map { $0.sorted() })
      writer.key("operations")
      writer.array { writer in
        for case .success(let operation) in operations {
          operation.write(to: &writer, context: context)
        }
      }
      writer.member(
        "clientChangeTokenData", ifPresent: clientChangeTokenData?.base64EncodedString())
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    .object(
      [
        "operations": JSONSchema.list(
          RecordOperation.schema(in: scope), count: 0...ServiceLimits.operationsPerRequest
        ).described(
          """
          A request names each record once. The fields of all records together have at most \
          \(ServiceLimits.recordsSizePerRequest) bytes without assets.
          """),
        "zoneID?": ZoneID.schema(in: scope),
        "atomic?": JSONSchema.bool.with([
          "default": true, "description": "Counts in zones other than the default one.",
        ]),
        "desiredKeys?": .desiredKeys, "numbersAsStrings?": .numbersAsStrings,
        "requestID?": JSONSchema.text.with([
          "minLength": 1, "maxLength": .int(Int64(ServiceLimits.nameLength)),
          "description": .string(
            """
            Petrel's own: the name of the request, of at most \(ServiceLimits.nameLength) bytes. When the \
            request comes again, the server carries out only what failed.
            """),
        ]),
        "clientChangeTokenData?": JSONSchema.text.with([
          "contentEncoding": "base64",
          "description": .string(
            """
            Petrel's own: at most \(ServiceLimits.clientChangeTokenSize) bytes that the device's later \
            fetches from the changed zones get.
            """),
        ]),
      ], isOpen: true)
  }
}

extension JSONSchema {
  static let desiredKeys = JSONSchema([
    "type": ["array", "null"], "items": ["type": "string"],
    "description": "The fields that the answer has. Absent and null mean all of them.",
  ])
  static let numbersAsStrings = JSONSchema([
    "type": "boolean", "default": false,
    "description": "Whether integers and doubles of the answer are strings.",
  ])
}

/// The body of `records/lookup`.
public struct LookupRecordsRequest: Sendable {
  public var recordIDs: [RecordID]
  /// The fields that the answer shall hold; nil means all.
  public var desiredKeys: Set<String>?
  /// The fields of single records, by their place in the request.
  public var itemDesiredKeys: [Int: Set<String>] = [:]
  public var numbersAsStrings: Bool

  public init(recordIDs: [RecordID], desiredKeys: Set<String>? = nil) {
    self.recordIDs = recordIDs
    self.desiredKeys = desiredKeys
    self.numbersAsStrings = false
  }

}

extension LookupRecordsRequest: Message {
  package var approximateSize: Int { 128 * (recordIDs.count + 1) }

  package init(_ reader: MessageReader) throws(ServiceError) {
    let zoneID = try reader.zoneID() ?? .default
    recordIDs = []
    let list = try reader.operations("records")
    itemDesiredKeys = try list.itemDesiredKeys()
    for element in try list.elements() {
      if element.node.string != nil {
        recordIDs.append(RecordID(recordName: try element.string(), zoneID: zoneID))
        continue
      }
      recordIDs.append(
        RecordID(
          recordName: try element.member("recordName").string(),
          zoneID: try element.zoneID() ?? zoneID))
    }
    desiredKeys = try reader.optionalStrings("desiredKeys").map(Set.init)
    numbersAsStrings = try reader.optionalBool("numbersAsStrings") ?? false
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.member("desiredKeys", ifPresent: desiredKeys.map { $0.sorted() })
      writer.key("records")
      writer.array { writer in
        for recordID in recordIDs {
          writer.object { writer in
            writer.member("recordName", recordID.recordName)
            writer.key("zoneID")
            recordID.zoneID.write(to: &writer, context: context)
          }
        }
      }
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    .object(
      [
        "records": .list(
          elementSchema(in: scope), count: 0...ServiceLimits.operationsPerRequest),
        "zoneID?": ZoneID.schema(in: scope), "desiredKeys?": .desiredKeys,
        "numbersAsStrings?": .numbersAsStrings,
      ], isOpen: true)
  }
}

extension LookupRecordsRequest {
  /// A record by its name, or by an object with its name.
  package static func elementSchema(in scope: SchemaScope) -> JSONSchema {
    .any(of: [
      .text,
      .object(
        [
          "recordName": .text, "zoneID?": ZoneID.schema(in: scope), "desiredKeys?": .desiredKeys,
        ], isOpen: true),
    ])
  }
}

/// The body of `records/query`.
public struct QueryRecordsRequest: Sendable {
  public var query: Query
  /// The zone to search; nil means every zone of the database.
  public var zoneID: ZoneID?
  /// Records in the answer at most; 0 leaves it to the server.
  public var resultsLimit: Int
  public var continuationMarker: String?
  public var desiredKeys: Set<String>?
  public var numbersAsStrings: Bool

  public init(
    query: Query, zoneID: ZoneID?, resultsLimit: Int = 0, continuationMarker: String? = nil,
    desiredKeys: Set<String>? = nil
  ) {
    self.query = query
    self.zoneID = zoneID
    self.resultsLimit = resultsLimit
    self.continuationMarker = continuationMarker
    self.desiredKeys = desiredKeys
    self.numbersAsStrings = false
  }
}

extension QueryRecordsRequest: Message, MessageObject {
  package static let blank = QueryRecordsRequest(query: Query(recordType: ""), zoneID: nil)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("query", &query)
    var isZoneWide = !Coder.reads && zoneID == nil
    try coder.optional("zoneID", &zoneID)
    try coder.optional(
      "zoneWide", &isZoneWide, default: false,
      "All zones; ignored beside a zoneID. Without either the default zone is searched.")
    if zoneID == nil, !isZoneWide { zoneID = .default }
    try coder.resultsLimit(&resultsLimit)
    try coder.optional(
      "continuationMarker", &continuationMarker, "Of the answer before, to the same query.")
    try coder.desiredKeys(&desiredKeys)
    try coder.numbersAsStrings(&numbersAsStrings)
  }
}

/// How the records of an answer are written.
public struct RecordDetail: Sendable, Hashable {
  /// The fields to write; nil means all.
  public var desiredKeys: Set<String>?
  /// Whether integers and doubles are strings, for readers with 53-bit numbers.
  public var numbersAsStrings: Bool

  public init(desiredKeys: Set<String>? = nil, numbersAsStrings: Bool = false) {
    self.desiredKeys = desiredKeys
    self.numbersAsStrings = numbersAsStrings
  }
}

/// The answer of `records/modify`, `records/lookup` and `records/query`.
public struct RecordsResponse: Sendable {
  /// One record of an answer.
  public enum Item: Sendable, Hashable {
    case record(Record)
    case deleted(RecordID)
  }

  public var records: [Result<Item, FailedItem>]
  public var continuationMarker: String?

  public var detail = RecordDetail()
  /// The fields of single items, by their place; the others have those of ``detail``.
  public var itemDesiredKeys: [Int: Set<String>] = [:]

  public init(records: [Result<Item, FailedItem>], continuationMarker: String? = nil) {
    self.records = records
    self.continuationMarker = continuationMarker
  }
}

extension RecordsResponse: Message {
  package var approximateSize: Int { 512 * (records.count + 1) }

  package init(_ reader: MessageReader) throws(ServiceError) {
    records = try [Result<Item, FailedItem>](reader.member("records"))
    continuationMarker = try reader.optionalString("continuationMarker")
  }

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
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    JSONSchema.object([
      "records": [Result<Item, FailedItem>].schema(in: scope),
      "continuationMarker?": JSONSchema.text.described(
        "Of records/query, when there is more: send the same query again with it."),
    ]).named("RecordsResponse")
  }
}

extension RecordsResponse.Item: MessagePart {
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

extension MessageReader {
  /// The member `zoneID`, where there is one.
  func zoneID() throws(ServiceError) -> ZoneID? {
    guard let zone = try optional("zoneID") else { return nil }
    return try ZoneID(zone)
  }

  /// The `desiredKeys` of a list's items, by their places.
  fileprivate func itemDesiredKeys() throws(ServiceError) -> [Int: Set<String>] {
    var keys: [Int: Set<String>] = [:]
    for (index, element) in try elements().enumerated() where element.node.isObject {
      keys[index] = try element.optionalStrings("desiredKeys").map(Set.init)
    }
    return keys
  }
}
