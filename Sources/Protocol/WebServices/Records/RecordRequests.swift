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

  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    let zoneID = try reader.zoneID() ?? .default
    let list = try reader.limitedElements(of: "operations")
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
  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter(reserving: 256 * operations.count)
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
    return writer.data
  }
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

  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    let zoneID = try reader.zoneID() ?? .default
    recordIDs = []
    let list = try reader.limitedElements(of: "records")
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

  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter(reserving: 128 * recordIDs.count)
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
    return writer.data
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

  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    query = try Query(try reader.member("query"))
    let isZoneWide = try reader.optionalBool("zoneWide") ?? false
    zoneID = try reader.zoneID() ?? (isZoneWide ? nil : .default)
    resultsLimit = try reader.optionalInt("resultsLimit") ?? 0
    guard resultsLimit >= 0 else {
      throw ServiceError(.badRequest, "resultsLimit: must not be negative")
    }
    continuationMarker = try reader.optionalString("continuationMarker")
    desiredKeys = try reader.optionalStrings("desiredKeys").map(Set.init)
    numbersAsStrings = try reader.optionalBool("numbersAsStrings") ?? false
  }

  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("query")
      query.write(to: &writer, context: context)
      if let zoneID {
        writer.key("zoneID")
        zoneID.write(to: &writer, context: context)
      } else {
        writer.member("zoneWide", true)
      }
      if resultsLimit > 0 { writer.member("resultsLimit", resultsLimit) }
      writer.member("continuationMarker", ifPresent: continuationMarker)
      writer.member("desiredKeys", ifPresent: desiredKeys.map { $0.sorted() })
    }
    return writer.data
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

  public init(records: [Result<Item, FailedItem>], continuationMarker: String? = nil) {
    self.records = records
    self.continuationMarker = continuationMarker
  }

  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    records = try reader.member("records").answers { (element) throws(ServiceError) in
      if try element.optionalBool("deleted") == true {
        return .deleted(
          RecordID(
            recordName: try element.member("recordName").string(),
            zoneID: try element.zoneID() ?? .default))
      }
      return .record(try Record(element))
    }
    continuationMarker = try reader.optionalString("continuationMarker")
  }

  /// Writes the answer.
  ///
  /// - Parameters:
  ///   - desiredKeys: the fields to write; nil means all.
  ///   - itemDesiredKeys: the same for single items, by their place in the answer.
  public func body(
    context: MessageContext, desiredKeys: Set<String>? = nil,
    itemDesiredKeys: [Int: Set<String>] = [:]
  ) -> Data {
    var writer = JSONWriter(reserving: 512 * records.count)
    writer.object { writer in
      writer.key("records")
      writer.array { writer in
        for (index, item) in records.enumerated() {
          switch item {
          case .success(.record(let record)):
            record.write(
              to: &writer, context: context, desiredKeys: itemDesiredKeys[index] ?? desiredKeys)
          case .success(.deleted(let recordID)):
            writer.object { writer in
              writer.member("recordName", recordID.recordName)
              writer.key("zoneID")
              recordID.zoneID.write(to: &writer, context: context)
              writer.member("deleted", true)
            }
          case .failure(let failed):
            failed.write(to: &writer, context: context)
          }
        }
      }
      writer.member("continuationMarker", ifPresent: continuationMarker)
    }
    return writer.data
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
