import CloudKitModel
import JSONCoding

/// The record dictionary of an answer.
///
/// ```
/// { "recordName": "n-1", "recordType": "Note", "recordChangeTag": "e",
///   "zoneID": { "zoneName": "_defaultZone", "ownerRecordName": "_ab12…" },
///   "fields": { "title": { "value": "Milk", "type": "STRING" } },
///   "created": { "timestamp": 1700000000000, "userRecordName": "_ab12…", "deviceID": "2" },
///   "modified": { … }, "deleted": false }
/// ```
extension Record: MessagePart {
  /// An empty record: the start value of messages that contain a record.
  static let blank = Record(recordID: RecordID(recordName: ""), recordType: "")

  /// Reads a record of an answer. A record without a zone is in the default zone.
  package init(_ reader: MessageReader) throws(ServiceError) {
    var zoneID = ZoneID.default
    if let zone = try reader.optional("zoneID") { zoneID = try ZoneID(zone) }
    self.init(
      recordID: RecordID(recordName: try reader.member("recordName").string(), zoneID: zoneID),
      recordType: try reader.optionalString("recordType") ?? "",
      recordChangeTag: try reader.optionalString("recordChangeTag"))
    if let stamp = try reader.optional("created") { created = try Stamp(stamp) }
    if let stamp = try reader.optional("modified") { modified = try Stamp(stamp) }
    if let reference = try reader.optional("parent") { parent = try Reference(reference) }
    if let reference = try reader.optional("share") { share = try Reference(reference) }
    let read = try FieldReading.fields(of: reader)
    fields = read.values.compactMapValues { $0 }
    encryptedFields = read.encrypted
    if recordType == ShareContent.recordType {
      shareContent = try ShareContent(reader)
    } else {
      shortGUID = try reader.optionalString("shortGUID")
    }
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    write(to: &writer, context: context, desiredKeys: nil)
  }

  /// The schema of a record in an answer. For records in operations, requests have another schema;
  /// only the dry runs of the administration use this schema in requests.
  package static func schema(in scope: SchemaScope) -> JSONSchema {
    scope.named("Record") { scope in
      let reference = Reference.schema(in: scope)
      let stamp = JSONSchema.object([
        "timestamp": .time, "userRecordName": .text, "deviceID": .text,
      ]).named(scope.name("Stamp"))
      var members: [String: JSONSchema] = [
        "recordName": .text, "recordType": .text, "zoneID": ZoneID.schema(in: scope),
        "recordChangeTag?": .text, "fields": .map(RecordValue.schema(in: scope)),
        "parent?": reference, "share?": reference, "created?": stamp, "modified?": stamp,
        "deleted": .constant(false),
      ]
      // Only records of the type of shares have these members, so none is required. Of other records,
      // those with a short GUID of their own have that.
      for (name, schema) in MessageDescriber.members(of: ShareContent.self, in: scope) {
        members[name.hasSuffix("?") ? name : name + "?"] = schema
      }
      return .object(members, isOpen: scope.direction == .requests)
    }
  }

  /// Writes the record with only some of its fields.
  func write(
    to writer: inout JSONWriter, context: MessageContext, desiredKeys: Set<String>?
  ) {
    var context = context
    if context.writesImplied { context.zoneOfReferences = recordID.zoneID }
    writer.object { writer in
      writer.member("recordName", recordID.recordName)
      writer.member("recordType", recordType)
      writer.key("zoneID")
      recordID.zoneID.write(to: &writer, context: context)
      writer.member("recordChangeTag", ifPresent: recordChangeTag)
      writer.key("fields")
      writer.object { writer in
        for (name, value) in fields
        where desiredKeys?.contains(name) ?? true {
          writer.key(name)
          value.write(
            to: &writer, context: context, isEncrypted: encryptedFields.contains(name))
        }
      }
      write(parent, as: "parent", to: &writer, context: context)
      write(share, as: "share", to: &writer, context: context)
      writer.member("shortGUID", ifPresent: shortGUID)
      shareContent?.writeMembers(to: &writer, context: context)
      write(created, as: "created", to: &writer, context: context)
      write(modified, as: "modified", to: &writer, context: context)
      writer.member("deleted", false)
    }
  }

  private func write(
    _ reference: Reference?, as name: String, to writer: inout JSONWriter, context: MessageContext
  ) {
    guard let reference else { return }
    writer.key(name)
    reference.write(to: &writer, context: context)
  }

  private func write(
    _ stamp: Stamp?, as name: String, to writer: inout JSONWriter, context: MessageContext
  ) {
    guard let stamp else { return }
    writer.key(name)
    writer.object { writer in
      writer.member("timestamp", stamp.timestamp.milliseconds)
      writer.member("userRecordName", context.wireName(ofUser: stamp.userRecordName))
      writer.member(
        "deviceID",
        ifPresent: stamp.deviceID ?? (context.writesImplied ? Stamp.namelessDevice : nil))
    }
  }
}

extension Record.Stamp {
  /// The device name that is written for a save without a device name.
  static let namelessDevice = "2"

  init(_ reader: MessageReader) throws(ServiceError) {
    self.init(
      timestamp: Timestamp(milliseconds: try reader.member("timestamp").int()),
      userRecordName: try reader.member("userRecordName").string(),
      deviceID: try reader.optionalString("deviceID"))
  }
}

/// The reader of the `fields` of a record.
enum FieldReading {
  /// Returns the values by name, the names of the fields that are marked as encrypted, and the names of
  /// those with an empty list without a type. A null value becomes nil, which removes the field in an
  /// operation.
  ///
  /// - Throws: `BAD_REQUEST` for a value that cannot be read, and for a name with too many
  ///   combining marks.
  static func fields(
    of record: MessageReader
  ) throws(ServiceError) -> (
    values: RecordFields<RecordValue?>, encrypted: Set<String>, untypedLists: Set<String>
  ) {
    guard let fields = try record.optional("fields") else { return ([:], [], []) }
    var untypedLists: Set<String> = []
    guard fields.node.isObject else {
      throw fields.mistake("must be an object, not \(fields.node.kind)")
    }
    var members: [(key: String, value: (RecordValue?, isEncrypted: Bool))] = []
    members.reserveCapacity(fields.node.count)
    try fields.node.forEachMember { (name, member) throws(ServiceError) in
      let field = fields.part(member)
      guard name.isStreamSafe else { throw field.mistake("the name \(ServiceError.markRule)") }
      guard !member.isNull else {
        members.append((name, (nil, false)))
        return
      }
      let value = try RecordValue.read(field)
      if case .list(_, let elements)? = value, elements.isEmpty,
        try field.optionalString("type").flatMap(FieldType.init(name:)) == nil
      {
        untypedLists.insert(name)
      }
      members.append((name, (value, try field.optionalBool("isEncrypted") ?? false)))
    }
    // Names with other bytes can be equal texts to Swift. The first of them counts, as everywhere in
    // messages.
    let read = RecordFields(firstOf: members)
    let encrypted = read.lazy.filter { $0.value.isEncrypted }.map { $0.key }
    return (read.mapValues { $0.0 }, Set(encrypted), untypedLists)
  }
}
