import CloudKitModel
import Foundation
import JSONCoding

extension Subscription {
  /// Reads a subscription dictionary.
  ///
  /// Type `zone` with a zone is a record-zone subscription whatever `zoneWide` says; without one it
  /// is a database subscription, as is type `database`. A query subscription without a zone and
  /// without `zoneWide` watches the default zone, as CloudKit JS has it.
  init(_ reader: MessageReader) throws(ServiceError) {
    let type = try reader.member("subscriptionType").string()
    let subscriptionID = try reader.optionalString("subscriptionID") ?? UUID().uuidString
    var zoneID: ZoneID?
    if let zone = try reader.optional("zoneID") { zoneID = try ZoneID(zone) }
    let recordType = try reader.optionalString("recordType")
    let kind: Kind
    switch (type, zoneID) {
    case ("query", _):
      let isZoneWide = try reader.optionalBool("zoneWide") ?? false
      kind = .query(
        try Query(try reader.member("query")),
        zoneID: zoneID ?? (isZoneWide ? nil : .default), options: try Options(reader))
    case ("zone", .some(let zoneID)):
      kind = .recordZone(zoneID, recordType: recordType)
    case ("zone", nil), ("database", _):
      kind = .database(recordType: recordType)
    default:
      throw reader.mistake("subscriptionType '\(type)' must be query, zone or database")
    }
    self.init(subscriptionID: subscriptionID, kind: kind)
    if let info = try reader.optional("notificationInfo") {
      notificationInfo = try NotificationInfo(info)
    }
  }

  /// - Parameter replaced: the kind of the subscription that this one replaced, where it is another.
  package func write(
    to writer: inout JSONWriter, context: MessageContext, replaced: KindName? = nil
  ) {
    writer.object { writer in
      writer.member("subscriptionID", subscriptionID)
      writer.member("replacedSubscriptionType", ifPresent: replaced?.rawValue)
      switch kind {
      case .query(let query, let zoneID, let options):
        writer.member("subscriptionType", "query")
        writer.key("query")
        query.write(to: &writer, context: context)
        if let zoneID {
          writer.key("zoneID")
          zoneID.write(to: &writer, context: context)
        } else {
          writer.member("zoneWide", true)
        }
        options.write(to: &writer)
      case .recordZone(let zoneID, let recordType):
        writer.member("subscriptionType", "zone")
        writer.key("zoneID")
        zoneID.write(to: &writer, context: context)
        writer.member("recordType", ifPresent: recordType)
      case .database(let recordType):
        writer.member("subscriptionType", "zone")
        writer.member("zoneWide", true)
        writer.member("recordType", ifPresent: recordType)
      }
      if let notificationInfo {
        writer.key("notificationInfo")
        notificationInfo.write(to: &writer)
      }
    }
  }
}

extension Subscription.Options {
  private static let wireNames: [(Subscription.Options, String)] = [
    (.firesOnRecordCreation, "create"), (.firesOnRecordUpdate, "update"),
    (.firesOnRecordDeletion, "delete"),
  ]

  init(_ reader: MessageReader) throws(ServiceError) {
    self = []
    for name in try reader.optionalStrings("firesOn") ?? [] {
      guard let option = Self.wireNames.first(where: { $0.1 == name })?.0 else {
        throw reader.mistake("firesOn '\(name)' must be create, update or delete")
      }
      insert(option)
    }
    if try reader.optionalBool("firesOnce") == true { insert(.firesOnce) }
  }

  func write(to writer: inout JSONWriter) {
    writer.member(
      "firesOn", ifPresent: Self.wireNames.filter { contains($0.0) }.map { $0.1 })
    writer.member("firesOnce", contains(.firesOnce))
  }
}
