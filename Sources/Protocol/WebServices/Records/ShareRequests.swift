import CloudKitModel
import Foundation
import JSONCoding

/// The body of `records/resolve` and `records/accept`.
public struct ResolveSharesRequest: Sendable, Hashable {
  /// One share to look at or to accept.
  public struct Item: Sendable, Hashable {
    /// The last part of the share's URL.
    public var shortGUID: String
    public var fetchesRootRecord: Bool
    /// The fields of the root record; nil means all.
    public var rootRecordDesiredKeys: [String]?

    public init(
      shortGUID: String, fetchesRootRecord: Bool = false, rootRecordDesiredKeys: [String]? = nil
    ) {
      self.shortGUID = shortGUID
      self.fetchesRootRecord = fetchesRootRecord
      self.rootRecordDesiredKeys = rootRecordDesiredKeys
    }
  }

  /// In order.
  public var items: [Item]

  public init(items: [Item]) {
    self.items = items
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: .withoutZones)
    items = []
    for element in try reader.limitedElements(of: "shortGUIDs").elements() {
      items.append(
        Item(
          shortGUID: try element.member("value").string(),
          fetchesRootRecord: try element.optionalBool("shouldFetchRootRecord") ?? false,
          rootRecordDesiredKeys: try element.optionalStrings("rootRecordDesiredKeys")))
    }
  }

  public var body: Data {
    var writer = JSONWriter(reserving: 64 * items.count)
    writer.object { writer in
      writer.key("shortGUIDs")
      writer.array { writer in
        for item in items {
          writer.object { writer in
            writer.member("value", item.shortGUID)
            if item.fetchesRootRecord { writer.member("shouldFetchRootRecord", true) }
            writer.member("rootRecordDesiredKeys", ifPresent: item.rootRecordDesiredKeys)
          }
        }
      }
    }
    return writer.data
  }
}

/// The answer of `records/resolve` and `records/accept`.
public struct SharesResponse: Sendable, Hashable {
  /// A share as the caller sees it.
  public struct Share: Sendable, Hashable {
    public var shortGUID: String
    public var containerIdentifier: String
    public var zoneID: ZoneID
    /// Nil for the share of a whole zone.
    public var rootRecordName: String?
    /// Only where it was asked for.
    public var rootRecord: Record?
    /// The share's own record.
    public var share: Record
    public var ownerIdentity: UserIdentity
    public var permission: SharePermission
    public var acceptance: ShareAcceptance
    public var role: ShareRole

    public init(
      shortGUID: String, containerIdentifier: String, zoneID: ZoneID, rootRecordName: String?,
      rootRecord: Record? = nil, share: Record, ownerIdentity: UserIdentity,
      permission: SharePermission, acceptance: ShareAcceptance, role: ShareRole
    ) {
      self.shortGUID = shortGUID
      self.containerIdentifier = containerIdentifier
      self.zoneID = zoneID
      self.rootRecordName = rootRecordName
      self.rootRecord = rootRecord
      self.share = share
      self.ownerIdentity = ownerIdentity
      self.permission = permission
      self.acceptance = acceptance
      self.role = role
    }
  }

  /// In the order of the request.
  public var results: [Result<Share, FailedItem>]

  public init(results: [Result<Share, FailedItem>]) {
    self.results = results
  }

  public init(parsing body: Data) throws(ServiceError) {
    // The zone is another user's, so owners' names stand for themselves.
    let reader = try MessageReader(parsing: body, context: .withoutZones)
    results = try reader.member("results").answers { (element) throws(ServiceError) in
      try Share(element)
    }
  }

  public var body: Data {
    var writer = JSONWriter(reserving: 512 * results.count)
    writer.object { writer in
      writer.key("results")
      writer.array { writer in
        for result in results {
          switch result {
          case .success(let share): share.write(to: &writer, context: .withoutZones)
          case .failure(let failed): failed.write(to: &writer, context: .withoutZones)
          }
        }
      }
    }
    return writer.data
  }
}

extension SharesResponse.Share {
  init(_ reader: MessageReader) throws(ServiceError) {
    self.init(
      shortGUID: try reader.member("shortGUID").member("value").string(),
      containerIdentifier: try reader.member("containerIdentifier").string(),
      zoneID: try ZoneID(try reader.member("zoneID")),
      rootRecordName: try reader.optionalString("rootRecordName"),
      share: try Record(try reader.member("share")),
      ownerIdentity: try UserIdentity(try reader.member("ownerIdentity")),
      permission: try reader.choice("participantPermission"),
      acceptance: try reader.choice("participantStatus"),
      role: try reader.choice("participantType"))
    if let record = try reader.optional("rootRecord") { rootRecord = try Record(record) }
  }

  func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.key("shortGUID")
      writer.object { $0.member("value", shortGUID) }
      writer.member("containerIdentifier", containerIdentifier)
      writer.key("zoneID")
      zoneID.write(to: &writer, context: context)
      writer.member("rootRecordName", ifPresent: rootRecordName)
      if let rootRecord {
        writer.key("rootRecord")
        rootRecord.write(to: &writer, context: context)
      }
      writer.key("share")
      share.write(to: &writer, context: context)
      writer.key("ownerIdentity")
      ownerIdentity.write(to: &writer)
      writer.member("participantPermission", permission.rawValue)
      writer.member("participantStatus", acceptance.rawValue)
      writer.member("participantType", role.rawValue)
    }
  }
}
