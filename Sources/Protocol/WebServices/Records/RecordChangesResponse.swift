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

  /// Reads the answer of `records/changes`.
  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    try self.init(MessageReader(parsing: body, context: context))
  }

  init(_ reader: MessageReader) throws(ServiceError) {
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

  /// Writes the answer of `records/changes` as `request` wants it.
  public func body(context: MessageContext, for request: RecordChangesRequest) -> Data {
    var writer = JSONWriter(reserving: 512 * changes.count)
    write(to: &writer, context: context, for: request)
    return writer.data
  }

  func write(
    to writer: inout JSONWriter, context: MessageContext, for request: RecordChangesRequest?
  ) {
    var recordContext = context
    recordContext.numbersAsStrings = request?.numbersAsStrings ?? false
    writer.object { writer in
      writer.key("zoneID")
      zoneID.write(to: &writer, context: context, isResponse: true)
      writer.key("records")
      writer.array { writer in
        for change in changes {
          change.write(
            to: &writer, context: recordContext, desiredKeys: request?.desiredKeys)
        }
      }
      writer.member("syncToken", syncToken)
      writer.member("moreComing", moreComing)
      writer.member(
        "clientChangeTokenData", ifPresent: clientChangeTokenData?.base64EncodedString())
    }
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

  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    zones = try reader.member("zones").answers { (element) throws(ServiceError) in
      try RecordChangesResponse(element)
    }
  }

  /// Writes the answer, each zone as its item in `request` wants it.
  public func body(context: MessageContext, for request: ZoneChangesRequest) -> Data {
    let count = zones.reduce(0) { $0 + ((try? $1.get().changes.count) ?? 0) }
    var writer = JSONWriter(reserving: 512 * count)
    writer.object { writer in
      writer.key("zones")
      writer.array { writer in
        for (index, zone) in zones.enumerated() {
          switch zone {
          case .success(let page):
            let asked = request.zones.indices.contains(index) ? request.zones[index] : nil
            // A zone that could not be asked for has no keys to leave out.
            page.write(to: &writer, context: context, for: try? asked?.get())
          case .failure(let failed):
            failed.write(to: &writer, context: context)
          }
        }
      }
    }
    return writer.data
  }
}
