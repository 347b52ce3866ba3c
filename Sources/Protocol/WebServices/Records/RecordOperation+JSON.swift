import CloudKitModel
import Foundation
import JSONCoding

/// The operation dictionary of `records/modify`.
///
/// ```
/// { "operationType": "update",
///   "record": { "recordName": "n-1", "recordChangeTag": "e",
///               "fields": { "title": { "value": "Milk" } } } }
/// ```
extension RecordOperation {
  /// Reads an operation. A `create` without a record name gets a random UUID as its name.
  ///
  /// - Parameter zoneID: The zone of the request, for records that name none.
  /// - Throws: `BAD_REQUEST` for an unknown operation, a missing name, and values that cannot be
  ///   read.
  init(_ reader: MessageReader, zoneID: ZoneID) throws(ServiceError) {
    let name = try reader.member("operationType").string()
    guard let kind = Kind(rawValue: name) else {
      throw reader.mistake(
        "operationType '\(name)' must be one of "
          + Kind.allCases.map(\.rawValue).joined(separator: ", "))
    }
    let record = try reader.member("record")
    var recordZone = zoneID
    if let zone = try record.optional("zoneID") { recordZone = try ZoneID(zone) }
    var recordName = try record.optional("recordName")?.recordName()
    if recordName == nil {
      guard kind == .create else { throw record.mistake("'recordName' is missing") }
      recordName = UUID().uuidString
    }
    let recordID = RecordID(recordName: recordName ?? "", zoneID: recordZone)
    let recordType = try record.optionalString("recordType")
    // Names that begin with `_` belong to the system. Such records can be changed, and users may
    // create their own records of type `Users`.
    if !recordID.recordName.hasPrefix("_") || (kind.mayCreate && recordType != "Users") {
      try record.checked { () throws(ModelError) in try recordID.validate() }
    }
    self.init(
      kind: kind, recordID: recordID, recordType: recordType,
      recordChangeTag: try record.optionalString("recordChangeTag"))
    guard kind != .delete && kind != .forceDelete else { return }
    (fields, encryptedFields, untypedLists) = try FieldReading.fields(of: record)
    if let member = record.node.member("parent") {
      parent = member.isNull ? .some(nil) : .some(try Reference(try record.member("parent")))
    }
    createsShortGUID = try record.optionalBool("createShortGUID") ?? false
    guard recordType == ShareContent.recordType else { return }
    shareContent = try ShareContent(record)
    if let zone = try record.optional("forRecord")?.optional("zoneID"),
      try ZoneID(zone) != recordZone
    {
      throw zone.mistake("must be the zone of the share: a share and its root are in one zone")
    }
  }

  func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.member("operationType", kind.rawValue)
      writer.key("record")
      writer.object { writer in
        writer.member("recordName", recordID.recordName)
        writer.key("zoneID")
        recordID.zoneID.write(to: &writer, context: context)
        writer.member("recordType", ifPresent: recordType)
        writer.member("recordChangeTag", ifPresent: recordChangeTag)
        if !fields.isEmpty { writeFields(to: &writer, context: context) }
        if let parent {
          writer.key("parent")
          if let parent {
            parent.write(to: &writer, context: context)
          } else {
            writer.null()
          }
        }
        if createsShortGUID { writer.member("createShortGUID", true) }
        shareContent?.writeMembers(to: &writer, context: context)
      }
    }
  }

  static func schema(in scope: SchemaScope) -> JSONSchema {
    var members: [String: JSONSchema] = [
      "recordName?": JSONSchema.text.with([
        "maxLength": .int(Int64(ServiceLimits.nameLength)),
        "description":
          """
        If a create has none, the server chooses one. The name of a new record has 1 to 255 characters \
        without control characters and does not begin with `_`. A user's own record of type `Users` has the user's name.
        """,
      ]),
      "recordType?": JSONSchema.text.with(MemberNote.name.keywords).described(
        "Required for a new record. The type of a record cannot change."),
      "recordChangeTag?": JSONSchema.text.described(
        "Required by update, replace and delete. Other operations ignore it."),
      "zoneID?": ZoneID.schema(in: scope),
      "fields?": JSONSchema.map(RecordValue.schema(in: scope).orNull).with([
        "propertyNames": .object(MemberNote.name.keywords),
        "description": .string(
          "At most \(ServiceLimits.recordSize) bytes without assets. null removes a field."),
      ]),
      "parent?": Reference.schema(in: scope).orNull.described("null removes it."),
      "createShortGUID?": JSONSchema.bool.described(
        "Whether the record of a custom zone gets its `shortGUID` before it is shared."),
    ]
    // Only records of the type of shares have these members. The server sets the others of a share.
    let share = MessageDescriber.members(of: ShareContent.self, in: scope)
    for name in ShareContent.requestMembers { members["\(name)?"] = share["\(name)?"] }
    let record = JSONSchema.object(members, isOpen: true)
    return .object(
      [
        "operationType": .word(Kind.allCases.map(\.rawValue)), "desiredKeys?": .desiredKeys,
        "record": record,
      ], isOpen: true)
  }

  /// Writes the fields. `{ "value": null }` removes a field.
  private func writeFields(to writer: inout JSONWriter, context: MessageContext) {
    writer.key("fields")
    writer.object { writer in
      for (name, value) in fields {
        writer.key(name)
        if let value {
          value.write(
            to: &writer, context: context, isEncrypted: encryptedFields.contains(name))
        } else {
          RecordValue.writeRemoval(to: &writer)
        }
      }
    }
  }
}

extension RecordOperation.Kind {
  fileprivate var mayCreate: Bool {
    switch self {
    case .create, .forceUpdate, .forceReplace: true
    case .update, .replace, .delete, .forceDelete: false
    }
  }
}
