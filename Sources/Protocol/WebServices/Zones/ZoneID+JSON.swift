import CloudKitModel
import JSONCoding

/// The zone ID of Apple's reference: `{ "zoneName": "Notes", "ownerRecordName": "_ab12…" }`.
extension ZoneID: MessagePart {
  /// Reads a zone ID. A string is accepted as the zone's name, because some clients send one.
  ///
  /// A missing `zoneName` means the default zone, and a missing owner means the current owner.
  /// `ownerName` is accepted for `ownerRecordName`.
  package init(_ reader: MessageReader) throws(ServiceError) {
    if reader.node.string != nil {
      self.init(zoneName: try reader.string())
      return
    }
    let owner = try reader.optionalString("ownerRecordName", "ownerName")
    self.init(
      zoneName: try reader.optionalString("zoneName") ?? ZoneID.defaultZoneName,
      ownerName: Self.modelOwner(owner, context: reader.context))
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writeMembers(to: &$0, context: context) }
  }

  fileprivate func writeMembers(to writer: inout JSONWriter, context: MessageContext) {
    writer.member("zoneName", zoneName)
    writer.member("ownerRecordName", ifPresent: wireOwner(context))
  }

  /// The schema of a zone ID. In requests a zone ID may be a string, and no member is required.
  package static func schema(in scope: SchemaScope) -> JSONSchema {
    scope.named("ZoneID") { scope in
      switch scope.direction {
      case .requests:
        .any(of: [
          JSONSchema.text.described("The name of a zone of the caller."),
          .object(
            [
              "zoneName?": JSONSchema.text.with(["default": .string(defaultZoneName)]),
              "ownerRecordName?": JSONSchema.text.described(
                "The default is the caller. `ownerName` is also accepted."),
            ], isOpen: true),
        ]).described(
          "The name of a new zone has 1 to 255 characters without control characters and does not begin with `_`."
        )
      case .answers:
        .object([
          "zoneName": .text, "ownerRecordName?": .text,
          "zoneType?": .word(AnsweredZone.types),
        ])
      }
    }
  }

  /// Returns the model's name for an owner in a message; nil means the current owner.
  private static func modelOwner(_ owner: String?, context: MessageContext) -> String {
    guard let owner else { return currentOwnerName }
    switch context.ownerNaming {
    case .relative(let own): return owner == own ? currentOwnerName : owner
    case .implied: return currentOwnerName
    case .explicit: return owner
    }
  }

  /// Returns the name of the owner for a message; nil when the message does not contain the owner.
  private func wireOwner(_ context: MessageContext) -> String? {
    guard ownerName == Self.currentOwnerName else { return context.wireName(ofUser: ownerName) }
    if case .relative(let own) = context.ownerNaming { return context.wireName(ofUser: own) }
    return nil
  }
}

/// The ID of a zone in an answer about zones, together with the zone's type (`zoneType`).
struct AnsweredZone: MessagePart {
  /// The types of zones in messages: the type of the default zone, then the type of all other
  /// zones.
  static let types = ["DEFAULT_ZONE", "REGULAR_CUSTOM_ZONE"]

  var zoneID: ZoneID

  init(_ zoneID: ZoneID) { self.zoneID = zoneID }

  init(_ reader: MessageReader) throws(ServiceError) { zoneID = try ZoneID(reader) }

  func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      zoneID.writeMembers(to: &writer, context: context)
      writer.member("zoneType", Self.types[zoneID.isDefaultZone ? 0 : 1])
    }
  }

  static func schema(in scope: SchemaScope) -> JSONSchema { ZoneID.schema(in: scope) }
}
