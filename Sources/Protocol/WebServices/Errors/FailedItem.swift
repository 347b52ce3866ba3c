import CloudKitModel
import JSONCoding

/// An item of a request that failed, in the place where its answer would stand.
public struct FailedItem: Error, Sendable, Hashable {
  /// Which item failed.
  public enum Name: Sendable, Hashable {
    case record(recordName: String, zoneID: ZoneID?)
    case zone(ZoneID)
    case subscription(subscriptionID: String)
    case notification(notificationID: String)
    case share(shortGUID: String)
    /// The item was too broken to have a name.
    case unknown

    public static func record(_ recordID: RecordID) -> Name {
      .record(recordName: recordID.recordName, zoneID: recordID.zoneID)
    }
  }

  public var name: Name
  public var error: ServiceError

  public init(_ name: Name, _ error: ServiceError) {
    self.name = name
    self.error = error
  }

  /// Reads an item of an answer; nil when it is no error.
  init?(_ reader: MessageReader) {
    guard let error = ServiceError(reader) else { return nil }
    self.init(Self.name(of: reader), error)
  }

  /// The name of an item in an answer.
  private static func name(of reader: MessageReader) -> Name {
    if let subscriptionID = reader.node["subscriptionID"]?.string {
      return .subscription(subscriptionID: subscriptionID)
    }
    if let notificationID = reader.node["notificationID"]?.string {
      return .notification(notificationID: notificationID)
    }
    if let shortGUID = reader.node["shortGUID"]?["value"]?.string {
      return .share(shortGUID: shortGUID)
    }
    return recordOrZone(of: reader)
  }

  /// The name that a broken item of a request bears, as far as it can be read.
  fileprivate static func name(of reader: MessageReader, as kind: RequestItem) -> Name {
    switch kind {
    case .record, .zone: recordOrZone(of: reader)
    case .subscription:
      reader.node["subscriptionID"]?.string.map { .subscription(subscriptionID: $0) } ?? .unknown
    }
  }

  private static func recordOrZone(of reader: MessageReader) -> Name {
    // An ID that cannot be read is no name.
    let zoneID = (try? reader.optional("zoneID")).flatMap { zone in
      zone.flatMap { try? ZoneID($0) }
    }
    if let recordName = reader.node["recordName"]?.string {
      return .record(recordName: recordName, zoneID: zoneID)
    }
    return zoneID.map { .zone($0) } ?? .unknown
  }

  /// The shape of an item that failed. It has one of the names, or none where it could not be read.
  static var schema: JSONSchema {
    let names: [String: JSONSchema] = [
      "recordName?": .text, "zoneID?": ZoneID.schema(in: .answers), "subscriptionID?": .text,
      "notificationID?": .text, "shortGUID?": .object(["value": .text]),
    ]
    return JSONSchema.object(ServiceError.members.merging(names) { $1 }).named("FailedItem")
  }

  func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      switch name {
      case .record(let recordName, let zoneID):
        writer.member("recordName", recordName)
        if let zoneID {
          writer.key("zoneID")
          zoneID.write(to: &writer, context: context)
        }
      case .zone(let zoneID):
        writer.key("zoneID")
        zoneID.write(to: &writer, context: context)
      case .subscription(let subscriptionID):
        writer.member("subscriptionID", subscriptionID)
      case .notification(let notificationID):
        writer.member("notificationID", notificationID)
      case .share(let shortGUID):
        writer.key("shortGUID")
        writer.object { $0.member("value", shortGUID) }
      case .unknown:
        break
      }
      error.writeMembers(to: &writer, context: context)
    }
  }
}

/// What the operations of a request are on: the member that bears an item's name.
package enum RequestItem: String {
  case record, zone, subscription
}

extension MessageReader {
  /// Reads the items of a list each by itself: one that is broken becomes a failed item and leaves
  /// the others alone.
  func items<Item>(
    of kind: RequestItem, _ read: (MessageReader) throws(ServiceError) -> Item
  ) throws(ServiceError) -> [Result<Item, FailedItem>] {
    var items: [Result<Item, FailedItem>] = []
    for element in try elements() {
      do {
        items.append(.success(try read(element)))
      } catch {
        // An item that is not in an object names itself.
        let named = (try? element.optional(kind.rawValue)) ?? element
        items.append(.failure(FailedItem(FailedItem.name(of: named, as: kind), error)))
      }
    }
    return items
  }
}
