import CloudKitModel
import JSONCoding

extension ZoneID: MessagePart {
  /// Reads a zone ID. A string is a zone's name: so some clients send it.
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

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    scope.named("ZoneID") { scope in
      switch scope.direction {
      case .requests:
        .any(of: [
          JSONSchema.text.described("A zone's name, owned by the caller."),
          .object(
            [
              "zoneName?": JSONSchema.text.with(["default": .string(defaultZoneName)]),
              "ownerRecordName?": JSONSchema.text.described(
                "By default the caller. `ownerName` is understood too."),
            ], isOpen: true),
        ]).described(
          "A zone to be made has a name of 1 to 255 printable ASCII characters, of which the first is no `_`."
        )
      case .answers:
        .object([
          "zoneName": .text, "ownerRecordName?": .text,
          "zoneType?": .word(AnsweredZone.types),
        ])
      }
    }
  }

  private static func modelOwner(_ owner: String?, context: MessageContext) -> String {
    guard let owner else { return currentOwnerName }
    switch context.ownerNaming {
    case .relative(let own): return owner == own ? currentOwnerName : owner
    case .implied: return currentOwnerName
    case .explicit: return owner
    }
  }

  private func wireOwner(_ context: MessageContext) -> String? {
    guard ownerName == Self.currentOwnerName else { return ownerName }
    if case .relative(let own) = context.ownerNaming { return own }
    return nil
  }
}

/// The ID of a zone in an answer about zones, which has the zone's type as well.
struct AnsweredZone: MessagePart {
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
