import CloudKitModel
import JSONCoding

extension ShareContent {
  /// Reads what a record of type `cloudkit.share` has beyond its fields.
  init(_ reader: MessageReader) throws(ServiceError) {
    self.init()
    if let root = try reader.optional("forRecord") {
      self.root = Root(
        recordName: try root.member("recordName").string(),
        recordChangeTag: try root.optionalString("recordChangeTag"))
    }
    if try reader.optional("publicPermission") != nil {
      publicPermission = try reader.choice("publicPermission")
    }
    if let list = try reader.optional("participants") {
      for element in try list.elements() { participants.append(try ShareParticipant(element)) }
    }
    if let owner = try reader.optional("owner") { self.owner = try ShareParticipant(owner) }
    if let current = try reader.optional("currentUserParticipant") {
      currentParticipant = try ShareParticipant(current)
    }
    shortGUID = try reader.optionalString("shortGUID")
    url = try reader.optionalString("webpageURL")
  }

  /// Writes the members into a record that is being written.
  func writeMembers(to writer: inout JSONWriter) {
    if let root {
      writer.key("forRecord")
      writer.object { writer in
        writer.member("recordName", root.recordName)
        writer.member("recordChangeTag", ifPresent: root.recordChangeTag)
      }
    }
    writer.member("publicPermission", publicPermission.rawValue)
    writer.key("participants")
    writer.array { writer in
      for participant in participants { participant.write(to: &writer) }
    }
    if let owner {
      writer.key("owner")
      owner.write(to: &writer)
    }
    if let currentParticipant {
      writer.key("currentUserParticipant")
      currentParticipant.write(to: &writer)
    }
    writer.member("shortGUID", ifPresent: shortGUID)
    writer.member("webpageURL", ifPresent: url)
  }
}

extension ShareParticipant {
  init(_ reader: MessageReader) throws(ServiceError) {
    var identity = UserIdentity()
    if let user = try reader.optional("userIdentity") { identity = try UserIdentity(user) }
    self.init(
      participantID: try reader.optionalString("participantId"), role: try reader.choice("type"),
      permission: try reader.choice("permission"),
      acceptance: try reader.choice("acceptanceStatus"), identity: identity,
      oneTimeURL: try reader.optionalString("oneTimeURL"))
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("participantId", ifPresent: participantID)
      writer.member("type", role.rawValue)
      writer.member("permission", permission.rawValue)
      writer.member("acceptanceStatus", acceptance.rawValue)
      writer.key("userIdentity")
      identity.write(to: &writer)
      writer.member("oneTimeURL", ifPresent: oneTimeURL)
    }
  }
}
