import CloudKitModel
import Foundation
import JSONCoding

/// The body of `records/modify`: up to `ServiceLimits.operationsPerRequest` operations on
/// records.
///
/// ```
/// { "atomic": true,
///   "operations": [ { "operationType": "forceUpdate",
///                     "record": { "recordName": "n-1", "recordType": "Note",
///                                 "fields": { "title": { "value": "Milk" } } } } ] }
/// ```
public struct ModifyRecordsRequest: Sendable {
  /// The operations, in the order of the request. An operation that could not be read is a failed
  /// item.
  public var operations: [Result<RecordOperation, FailedItem>]
  /// Whether a failed operation undoes the other operations in its zone. A request without this
  /// member is atomic. The value has no effect in the default zone.
  public var isAtomic: Bool
  /// The fields of the records in the answer; nil means all.
  public var desiredKeys: Set<String>?
  /// The fields in the answers of single operations, by the operation's index in the request, from
  /// 0. The answers of other operations have the fields of ``desiredKeys``.
  public var itemDesiredKeys: [Int: Set<String>] = [:]
  /// Whether the answer has integers and doubles as strings.
  public var numbersAsStrings: Bool
  /// The data that the same device receives when it later fetches changes of the changed zones, at
  /// most `ServiceLimits.clientChangeTokenSize` bytes. Petrel's addition: Apple's native client
  /// sends the data over another protocol.
  public var clientChangeTokenData: Data?
  /// The identifier of the request, of 1 to `ServiceLimits.nameLength` bytes. Petrel's addition.
  ///
  /// A client that lost an answer may send the same request again with the same identifier. The
  /// server then carries out only the operations that it has not carried out yet.
  public var requestID: String?

  /// Whether each operation names its record. If one does not, the server chooses the name, and two
  /// equal requests may create different records.
  public private(set) var namesAllRecords = true

  /// Creates a request.
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

  /// - Throws: `BAD_REQUEST` for too many operations, and for mistakes outside of the operations.
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
          "default": true, "description": "Ignored in the default zone.",
        ]),
        "desiredKeys?": .desiredKeys, "numbersAsStrings?": .numbersAsStrings,
        "requestID?": JSONSchema.text.with([
          "minLength": 1, "maxLength": .int(Int64(ServiceLimits.nameLength)),
          "description": .string(
            """
            Petrel's own: the ID of the request, of at most \(ServiceLimits.nameLength) bytes. If the \
            request arrives again, the server carries out only the operations that failed.
            """),
        ]),
        "clientChangeTokenData?": JSONSchema.text.with([
          "contentEncoding": "base64",
          "description": .string(
            """
            Petrel's own: at most \(ServiceLimits.clientChangeTokenSize) bytes. The device gets them back \
            with later changes of the changed zones.
            """),
        ]),
      ], isOpen: true)
  }
}

/// Schemas of members that several requests have.
extension JSONSchema {
  static let desiredKeys = JSONSchema([
    "type": ["array", "null"], "items": ["type": "string"],
    "description": "The fields to return. If it is missing or null, the answer has all fields.",
  ])
  static let numbersAsStrings = JSONSchema([
    "type": "boolean", "default": false,
    "description": "Whether integers and doubles in the answer are strings.",
  ])
}

/// The body of `records/lookup`: it asks for records by their names.
///
/// ```
/// { "records": [ { "recordName": "n-1" }, { "recordName": "n-2", "desiredKeys": [ "title" ] } ] }
/// ```
public struct LookupRecordsRequest: Sendable {
  /// The records, in the order of the answer.
  public var recordIDs: [RecordID]
  /// The fields of the records in the answer; nil means all.
  public var desiredKeys: Set<String>?
  /// The fields of single records, by the record's index in the request, from 0. Other records have
  /// the fields of ``desiredKeys``.
  public var itemDesiredKeys: [Int: Set<String>] = [:]
  /// Whether the answer has integers and doubles as strings.
  public var numbersAsStrings: Bool

  /// Creates a request.
  public init(recordIDs: [RecordID], desiredKeys: Set<String>? = nil) {
    self.recordIDs = recordIDs
    self.desiredKeys = desiredKeys
    self.numbersAsStrings = false
  }

}

extension LookupRecordsRequest: Message {
  package var approximateSize: Int { 128 * (recordIDs.count + 1) }

  /// Reads the request. A record name in the place of an object is accepted too, because some
  /// clients send it.
  package init(_ reader: MessageReader) throws(ServiceError) {
    let zoneID = try reader.zoneID() ?? .default
    recordIDs = []
    let list = try reader.operations("records")
    itemDesiredKeys = try list.itemDesiredKeys()
    for element in try list.elements() {
      if element.node.string != nil {
        recordIDs.append(RecordID(recordName: try element.recordName(), zoneID: zoneID))
        continue
      }
      recordIDs.append(
        RecordID(
          recordName: try element.member("recordName").recordName(),
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

/// The body of `records/query`: it asks for the records that pass a query.
///
/// ```
/// { "query": { "recordType": "Note" }, "zoneID": { "zoneName": "Notes" }, "resultsLimit": 50 }
/// ```
public struct QueryRecordsRequest: Sendable {
  /// The query.
  public var query: Query
  /// The zone to search; nil means every zone of the database. In a message, `"zoneWide": true`
  /// means every zone; a request with neither `zoneID` nor `zoneWide` searches the default zone.
  public var zoneID: ZoneID?
  /// The largest number of records in the answer. 0 leaves the number to the server.
  public var resultsLimit: Int
  /// The marker of the previous answer to the same query; nil asks for the first page.
  public var continuationMarker: String?
  /// The fields of the records in the answer; nil means all.
  public var desiredKeys: Set<String>?
  /// Whether the answer has integers and doubles as strings.
  public var numbersAsStrings: Bool

  /// Creates a request.
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

  /// Passes the members to the coder.
  ///
  /// A message has two members for the zone: `zoneID` names one zone, and `"zoneWide": true` means
  /// all zones. Without these members, the default zone is searched.
  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("query", &query)
    var isZoneWide = !Coder.reads && zoneID == nil
    try coder.optional("zoneID", &zoneID)
    try coder.optional(
      "zoneWide", &isZoneWide, default: false,
      "true searches all zones. Ignored with a zoneID. Without either, the default zone is searched."
    )
    if zoneID == nil, !isZoneWide { zoneID = .default }
    try coder.resultsLimit(&resultsLimit)
    try coder.optional(
      "continuationMarker", &continuationMarker,
      "The marker in the previous answer to the same query.")
    try coder.desiredKeys(&desiredKeys)
    try coder.numbersAsStrings(&numbersAsStrings)
  }
}

extension MessageReader {
  /// Returns the zone of the member `zoneID`; nil when the member is absent or null.
  func zoneID() throws(ServiceError) -> ZoneID? {
    guard let zone = try optional("zoneID") else { return nil }
    return try ZoneID(zone)
  }

  /// Returns the `desiredKeys` of a list's elements by the elements' indexes, from 0.
  fileprivate func itemDesiredKeys() throws(ServiceError) -> [Int: Set<String>] {
    var keys: [Int: Set<String>] = [:]
    for (index, element) in try elements().enumerated() where element.node.isObject {
      keys[index] = try element.optionalStrings("desiredKeys").map(Set.init)
    }
    return keys
  }
}
