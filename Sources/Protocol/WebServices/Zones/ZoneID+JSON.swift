import CloudKitModel
import JSONCoding

extension ZoneID {
  /// Reads a zone ID. A string is a zone's name: so some clients send it.
  init(_ reader: MessageReader) throws(ServiceError) {
    if reader.node.string != nil {
      self.init(zoneName: try reader.string())
      return
    }
    let owner = try reader.optionalString("ownerRecordName", "ownerName")
    self.init(
      zoneName: try reader.optionalString("zoneName") ?? ZoneID.defaultZoneName,
      ownerName: Self.modelOwner(owner, context: reader.context))
  }

  func write(to writer: inout JSONWriter, context: MessageContext, isResponse: Bool = false) {
    writer.object { writer in
      writer.member("zoneName", zoneName)
      writer.member("ownerRecordName", ifPresent: wireOwner(context))
      if isResponse {
        writer.member("zoneType", isDefaultZone ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE")
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
