import CloudKitModel
import Foundation
import JSONCoding

/// The subscription dictionary of Apple's reference.
///
/// ```
/// { "subscriptionID": "new-art", "subscriptionType": "query", "zoneWide": true,
///   "query": { "recordType": "Artwork", "filterBy": [] }, "firesOn": [ "create" ],
///   "notificationInfo": { "alertBody": "New artwork" } }
/// ```
extension Subscription: MessagePart {
  /// Reads a subscription. Without an ID the subscription gets a random UUID.
  ///
  /// - Type `zone` with a zone is a record-zone subscription, whatever `zoneWide` says.
  /// - Type `zone` without a zone is a database subscription, and so is type `database`.
  /// - A query subscription without a zone watches all zones if `zoneWide` is true, otherwise the
  ///   default zone. CloudKit JS has the same rule.
  package init(_ reader: MessageReader) throws(ServiceError) {
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

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    write(to: &writer, context: context, replaced: nil)
  }

  /// - Parameter replaced: The kind of the subscription that this subscription replaced, if the two
  ///   kinds differ; otherwise nil.
  package func write(
    to writer: inout JSONWriter, context: MessageContext, replaced: KindName?
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
        notificationInfo.write(to: &writer, context: context)
      }
    }
  }

  /// The schema of a subscription. In requests all members are optional, because a deletion has
  /// only the ID.
  package static func schema(in scope: SchemaScope) -> JSONSchema {
    scope.named("Subscription") { scope in
      var members: [String: JSONSchema] = [
        "query?": Query.schema(in: scope), "zoneID?": ZoneID.schema(in: scope),
        "zoneWide?": JSONSchema.bool.described(
          """
          For a query subscription without a zoneID: true watches all zones, false watches the default zone. \
          In an answer, true for a database subscription.
          """),
        "firesOn?": JSONSchema.list(.word(Options.wireNames.map { $0.1 })).described(
          "Required for query subscriptions; others ignore it."),
        "firesOnce?": JSONSchema.bool.described("For query subscriptions; others ignore it."),
        "recordType?": JSONSchema.text.described(
          "Petrel's own: a zone or database subscription fires only for records of this type."),
        "notificationInfo?": NotificationInfo.schema(in: scope),
      ]
      let identifier = JSONSchema.text.with([
        "minLength": 1, "maxLength": .int(Int64(ServiceLimits.nameLength)),
      ])
      let kinds = KindName.allCases.map(\.rawValue)
      switch scope.direction {
      case .requests:
        // The subscription of a deletion has only its ID.
        members["subscriptionID?"] = identifier.described(
          "If it is missing, the server creates one.")
        members["subscriptionType?"] = JSONSchema.word(kinds).described(
          "`zone` without a zoneID means a database subscription.")
        return .object(members, isOpen: true)
      case .answers:
        members["subscriptionID"] = identifier
        members["subscriptionType"] = .word(["query", "zone"])
        members["replacedSubscriptionType?"] = JSONSchema.word(kinds).described(
          """
          Petrel's own: the type of the subscription that the save replaced, if it was another type. Only in \
          the answer of subscriptions/modify.
          """)
        return .object(members)
      }
    }
  }
}

extension Subscription.Options {
  fileprivate static let wireNames: [(Subscription.Options, String)] = [
    (.firesOnRecordCreation, "create"), (.firesOnRecordUpdate, "update"),
    (.firesOnRecordDeletion, "delete"),
  ]

  /// Reads `firesOn` and `firesOnce`. A missing `firesOn` gives no events, and
  /// `Subscription.validate(in:)` refuses a query subscription without events.
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
