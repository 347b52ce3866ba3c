import CloudKitModel
import JSONCoding

/// The location dictionary of Apple's reference, such as `{ "latitude": 47.4, "longitude": 8.5 }`.
/// The two coordinates are required.
extension Location: MessageObject {
  package static let schemaName: String? = "Location"
  package static let blank = Location(latitude: 0, longitude: 0)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("latitude", &latitude, .range(-90...90))
    try coder.required("longitude", &longitude, .range(-180...180))
    try coder.optional("horizontalAccuracy", &horizontalAccuracy)
    try coder.optional("verticalAccuracy", &verticalAccuracy)
    try coder.optional("altitude", &altitude)
    try coder.optional("speed", &speed)
    try coder.optional("course", &course)
    try coder.optional("timestamp", &timestamp)
    let location = self
    try coder.check(nil) { () throws(ModelError) in try location.validate(field: "value") }
  }
}

/// The reference dictionary of Apple's reference.
///
///     { "recordName": "n-1", "zoneID": { "zoneName": "Notes" }, "action": "DELETE_SELF" }
extension Reference: MessagePart {
  /// Reads a reference. A reference without an action gets the action `none`.
  package init(_ reader: MessageReader) throws(ServiceError) {
    var action = Action.none
    if let member = try reader.optional("action") { action = try Action(member) }
    var zoneID: ZoneID?
    if let zone = try reader.optional("zoneID") { zoneID = try ZoneID(zone) }
    self.init(
      recordName: try reader.member("recordName").recordName(), zoneID: zoneID, action: action)
  }

  /// Writes the reference. If the reference has no zone, writes the context's `zoneOfReferences` as
  /// its zone, if any.
  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.member("recordName", recordName)
      if let zoneID = zoneID ?? context.zoneOfReferences {
        writer.key("zoneID")
        zoneID.write(to: &writer, context: context)
      }
      writer.member("action", action.rawValue)
    }
  }

  /// The schema of a reference. Requests may have a number instead of the name of an action.
  package static func schema(in scope: SchemaScope) -> JSONSchema {
    scope.named("Reference") { scope in
      let zoneID = ZoneID.schema(in: scope)
      let actions = JSONSchema.word(Action.allCases.map(\.rawValue))
      return switch scope.direction {
      case .requests:
        .object(
          [
            "recordName": .text, "zoneID?": zoneID,
            "action?": JSONSchema.any(of: [actions, .integer(0...1)]).with([
              "default": "NONE", "description": "0 stands for NONE, 1 for DELETE_SELF.",
            ]),
          ], isOpen: true)
      case .answers: .object(["recordName": .text, "zoneID?": zoneID, "action": actions])
      }
    }
  }
}

extension Reference.Action {
  /// Reads the name of an action. AgileCloudSDK sends the numbers of its constants: 0 for `NONE`, 1
  /// for `DELETE_SELF`.
  fileprivate init(_ reader: MessageReader) throws(ServiceError) {
    switch reader.node.int {
    case 0: self = .none
    case 1: self = .deleteSelf
    default:
      let name = try reader.string()
      guard let action = Self(rawValue: name) else {
        throw reader.mistake("'\(name)' must be NONE, DELETE_SELF or VALIDATE")
      }
      self = action
    }
  }
}

/// The asset dictionary of Apple's reference.
extension Asset: MessageObject {
  package static let schemaName: String? = "Asset"
  package static let blank = Asset(fileChecksum: "", size: 0)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("fileChecksum", &fileChecksum)
    try coder.required("size", &size)
    try coder.optional("referenceChecksum", &referenceChecksum)
    try coder.optional("wrappingKey", &wrappingKey)
    try coder.optional("receipt", &receipt)
    try coder.optional("downloadURL", &downloadURL)
  }
}
