import CloudKitModel
import JSONCoding

extension Location {
  init(_ reader: MessageReader) throws(ServiceError) {
    self.init(
      latitude: try reader.member("latitude").double(),
      longitude: try reader.member("longitude").double(),
      horizontalAccuracy: try reader.optionalDouble("horizontalAccuracy"),
      verticalAccuracy: try reader.optionalDouble("verticalAccuracy"),
      altitude: try reader.optionalDouble("altitude"),
      speed: try reader.optionalDouble("speed"),
      course: try reader.optionalDouble("course"),
      timestamp: try reader.optional("timestamp")?.milliseconds().timestamp)
    let location = self
    try reader.checked { () throws(ModelError) in try location.validate(field: "value") }
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("latitude", latitude)
      writer.member("longitude", longitude)
      if let horizontalAccuracy { writer.member("horizontalAccuracy", horizontalAccuracy) }
      if let verticalAccuracy { writer.member("verticalAccuracy", verticalAccuracy) }
      if let altitude { writer.member("altitude", altitude) }
      if let speed { writer.member("speed", speed) }
      if let course { writer.member("course", course) }
      if let timestamp { writer.member("timestamp", timestamp.milliseconds) }
    }
  }
}

extension Reference {
  init(_ reader: MessageReader) throws(ServiceError) {
    var action = Action.none
    if let member = try reader.optional("action") { action = try Action(member) }
    var zoneID: ZoneID?
    if let zone = try reader.optional("zoneID") { zoneID = try ZoneID(zone) }
    self.init(
      recordName: try reader.member("recordName").string(), zoneID: zoneID, action: action)
  }

  func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.member("recordName", recordName)
      if let zoneID = zoneID ?? context.zoneOfReferences {
        writer.key("zoneID")
        zoneID.write(to: &writer, context: context)
      }
      writer.member("action", action.rawValue)
    }
  }
}

extension Reference.Action {
  /// Reads an action's name. AgileCloudSDK sends the numbers of its constants.
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

extension Asset {
  init(_ reader: MessageReader) throws(ServiceError) {
    self.init(
      fileChecksum: try reader.member("fileChecksum").string(),
      size: try reader.member("size").int(),
      referenceChecksum: try reader.optionalString("referenceChecksum"),
      wrappingKey: try reader.optionalString("wrappingKey"),
      receipt: try reader.optionalString("receipt"),
      downloadURL: try reader.optionalString("downloadURL"))
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("fileChecksum", fileChecksum)
      writer.member("size", size)
      writer.member("referenceChecksum", ifPresent: referenceChecksum)
      writer.member("wrappingKey", ifPresent: wrappingKey)
      writer.member("receipt", ifPresent: receipt)
      writer.member("downloadURL", ifPresent: downloadURL)
    }
  }
}

extension Int64 {
  /// These milliseconds since 1970 as a timestamp.
  var timestamp: Timestamp { Timestamp(milliseconds: self) }
}
