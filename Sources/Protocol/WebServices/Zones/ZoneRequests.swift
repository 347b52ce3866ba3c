import CloudKitModel
import Foundation
import JSONCoding

/// The body of `zones/modify`.
public struct ModifyZonesRequest: Sendable {
  public var operations: [Result<ZoneOperation, FailedItem>]

  public init(operations: [ZoneOperation]) {
    self.operations = operations.map { .success($0) }
  }

  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    operations = try reader.limitedElements(of: "operations").items(of: .zone) {
      (element) throws(ServiceError) in
      let zoneID = try ZoneID(try element.member("zone").member("zoneID"))
      switch try element.member("operationType").string() {
      case "create":
        try element.checked { () throws(ModelError) in try zoneID.validate() }
        return .create(zoneID)
      case "delete":
        return .delete(zoneID)
      case let other:
        throw element.mistake("operationType '\(other)' must be create or delete")
      }
    }
  }

  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("operations")
      writer.array { writer in
        for case .success(let operation) in operations {
          writer.object { writer in
            let zoneID: ZoneID
            switch operation {
            case .create(let created):
              writer.member("operationType", "create")
              zoneID = created
            case .delete(let deleted):
              writer.member("operationType", "delete")
              zoneID = deleted
            }
            writer.key("zone")
            writer.object { writer in
              writer.key("zoneID")
              zoneID.write(to: &writer, context: context)
            }
          }
        }
      }
    }
    return writer.data
  }
}

/// The body of `zones/lookup`.
public struct LookupZonesRequest: Sendable {
  public var zoneIDs: [ZoneID]

  public init(zoneIDs: [ZoneID]) {
    self.zoneIDs = zoneIDs
  }

  /// Reads zones that stand in the list as zone IDs, as dictionaries with a `zoneID`, or by name.
  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    zoneIDs = []
    for element in try reader.limitedElements(of: "zones").elements() {
      if element.node.string == nil, let zoneID = try element.zoneID() {
        zoneIDs.append(zoneID)
      } else {
        zoneIDs.append(try ZoneID(element))
      }
    }
  }

  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("zones")
      writer.array { writer in
        for zoneID in zoneIDs { zoneID.write(to: &writer, context: context) }
      }
    }
    return writer.data
  }
}

/// The answer of `zones/list`, `zones/lookup` and `zones/modify`.
public struct ZonesResponse: Sendable {
  /// One zone of an answer.
  public enum Item: Sendable, Hashable {
    /// - Parameter syncToken: where its change feed stands now.
    case zone(ZoneID, isAtomic: Bool, syncToken: String? = nil)
    case deleted(ZoneID)
  }

  public var zones: [Result<Item, FailedItem>]

  public init(zones: [Result<Item, FailedItem>]) {
    self.zones = zones
  }

  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    zones = try reader.member("zones").answers { (element) throws(ServiceError) in
      let zoneID = try ZoneID(try element.member("zoneID"))
      if try element.optionalBool("deleted") == true { return .deleted(zoneID) }
      return .zone(
        zoneID, isAtomic: try element.optionalBool("atomic") ?? false,
        syncToken: try element.optionalString("syncToken"))
    }
  }

  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("zones")
      writer.array { writer in
        for item in zones {
          switch item {
          case .success(.zone(let zoneID, let isAtomic, let syncToken)):
            writer.object { writer in
              writer.key("zoneID")
              zoneID.write(to: &writer, context: context, isResponse: true)
              writer.member("syncToken", ifPresent: syncToken)
              writer.member("atomic", isAtomic)
            }
          case .success(.deleted(let zoneID)):
            writer.object { writer in
              writer.key("zoneID")
              zoneID.write(to: &writer, context: context, isResponse: true)
              writer.member("deleted", true)
            }
          case .failure(let failed):
            failed.write(to: &writer, context: context)
          }
        }
      }
    }
    return writer.data
  }
}
