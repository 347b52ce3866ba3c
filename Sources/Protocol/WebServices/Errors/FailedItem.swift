import CloudKitModel
import JSONCoding

/// The error of one item of a request. In the answer, this error replaces the item's result.
///
/// ```
/// { "recordName": "n-1", "zoneID": { "zoneName": "Notes" },
///   "serverErrorCode": "CONFLICT", "reason": "…", "uuid": "…" }
/// ```
public struct FailedItem: Error, Sendable, Hashable {
  /// The name of the item that failed.
  public enum Name: Sendable, Hashable {
    /// A record; the zone is nil when the item does not name one.
    case record(recordName: String, zoneID: ZoneID?)
    /// A zone.
    case zone(ZoneID)
    /// A subscription.
    case subscription(subscriptionID: String)
    /// An entry of the notification log.
    case notification(notificationID: String)
    /// A share, by the last part of its URL.
    case share(shortGUID: String)
    /// An item without a readable name.
    case unknown

    /// Returns the name of the record with this ID.
    public static func record(_ recordID: RecordID) -> Name {
      .record(recordName: recordID.recordName, zoneID: recordID.zoneID)
    }
  }

  /// The name of the item.
  public var name: Name
  /// The reason of the failure.
  public var error: ServiceError

  /// Creates the error of an item.
  public init(_ name: Name, _ error: ServiceError) {
    self.name = name
    self.error = error
  }

  /// Reads an item of an answer; nil when the item has no `serverErrorCode` and so is no error.
  init?(_ reader: MessageReader) {
    guard let error = ServiceError(reader) else { return nil }
    self.init(Self.name(of: reader), error)
  }

  /// Returns the name of an item in an answer. The name's member shows the kind of the item.
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

  /// Returns the name of a malformed item of a request, as far as the name can be read.
  fileprivate static func name(of reader: MessageReader, as kind: RequestItem) -> Name {
    switch kind {
    case .record, .zone: recordOrZone(of: reader)
    case .subscription:
      reader.node["subscriptionID"]?.string.map { .subscription(subscriptionID: $0) } ?? .unknown
    }
  }

  private static func recordOrZone(of reader: MessageReader) -> Name {
    // An ID that cannot be read is no name, so its error does not matter.
    let zoneID = (try? reader.optional("zoneID")).flatMap { zone in
      zone.flatMap { try? ZoneID($0) }
    }
    if let recordName = reader.node["recordName"]?.string {
      return .record(recordName: recordName, zoneID: zoneID)
    }
    return zoneID.map { .zone($0) } ?? .unknown
  }

  /// The schema of a failed item. A failed item has one of the names, or no name when none could be
  /// read. The schema is the same for all operations.
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

/// The kind of the items of a request. The raw value is the name of an operation's member that
/// contains the item's name.
package enum RequestItem: String {
  case record, zone, subscription
}

extension MessageReader {
  /// Reads each item of a list separately. A malformed item becomes a failed item, and the other
  /// items are still read.
  ///
  /// - Throws: `BAD_REQUEST` when the value is no list.
  func items<Item>(
    of kind: RequestItem, _ read: (MessageReader) throws(ServiceError) -> Item
  ) throws(ServiceError) -> [Result<Item, FailedItem>] {
    var items: [Result<Item, FailedItem>] = []
    for element in try elements() {
      do {
        items.append(.success(try read(element)))
      } catch {
        // The name is in the member for the item's kind; without this member, the name is in the
        // item itself.
        let named = (try? element.optional(kind.rawValue)) ?? element
        items.append(.failure(FailedItem(FailedItem.name(of: named, as: kind), error)))
      }
    }
    return items
  }
}
