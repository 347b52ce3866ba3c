import CloudKitModel
import JSONCoding

extension Record: MessagePart {
  static let blank = Record(recordID: RecordID(recordName: ""), recordType: "")

  /// Reads a record of an answer.
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
    if recordType == ShareContent.recordType { shareContent = try ShareContent(reader) }
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    write(to: &writer, context: context, desiredKeys: nil)
  }

  /// The shape of a record in an answer. Requests have records in operations alone, and in trials.
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
      // A share's own members are those of a record with the type of shares.
      for (name, schema) in MessageDescriber.members(of: ShareContent.self, in: scope) {
        members[name.hasSuffix("?") ? name : name + "?"] = schema
      }
      return .object(members, isOpen: scope.direction == .requests)
    }
  }

  /// Writes the record as an answer holds it.
  ///
  /// - Parameter desiredKeys: the fields to write; nil means all.
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
      writer.member("userRecordName", stamp.userRecordName)
      writer.member(
        "deviceID",
        ifPresent: stamp.deviceID ?? (context.writesImplied ? Stamp.namelessDevice : nil))
    }
  }
}

extension Record.Stamp {
  /// What stands for the device of a client that gave it no name.
  static let namelessDevice = "2"

  init(_ reader: MessageReader) throws(ServiceError) {
    self.init(
      timestamp: Timestamp(milliseconds: try reader.member("timestamp").int()),
      userRecordName: try reader.member("userRecordName").string(),
      deviceID: try reader.optionalString("deviceID"))
  }
}

/// Reads the `fields` of a record.
enum FieldReading {
  /// The values by name, nil for a field whose value is null, and the names of the fields that are
  /// marked as encrypted.
  static func fields(
    of record: MessageReader
  ) throws(ServiceError) -> (values: RecordFields<RecordValue?>, encrypted: Set<String>) {
    guard let fields = try record.optional("fields") else { return ([:], []) }
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
      members.append((name, (value, try field.optionalBool("isEncrypted") ?? false)))
    }
    // Of fields with the same name the first counts, as with all members.
    let read = RecordFields(firstOf: members)
    let encrypted = read.lazy.filter { $0.value.isEncrypted }.map { $0.key }
    return (read.mapValues { $0.0 }, Set(encrypted))
  }
}
