import CloudKitModel
import Foundation
import JSONCoding

extension UserIdentity {
  /// Reads a user dictionary of an answer or of a share's participant.
  init(_ reader: MessageReader) throws(ServiceError) {
    self.init(userRecordName: try reader.optionalString("userRecordName"))
    if let names = try reader.optional("nameComponents") {
      nameComponents = try PersonNameComponents(names)
    }
    if let info = try reader.optional("lookupInfo") { lookup = try UserLookup(info) }
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writeMembers(to: &$0) }
  }

  /// Writes the members into an object that is being written.
  func writeMembers(to writer: inout JSONWriter) {
    writer.member("userRecordName", ifPresent: userRecordName)
    if let nameComponents {
      writer.key("nameComponents")
      nameComponents.write(to: &writer)
    }
    if let lookup {
      writer.key("lookupInfo")
      lookup.write(to: &writer)
    }
  }
}

extension UserLookup {
  init(_ reader: MessageReader) throws(ServiceError) {
    self.init(
      emailAddress: try reader.optionalString("emailAddress"),
      phoneNumber: try reader.optionalString("phoneNumber"),
      userRecordName: try reader.optionalString("userRecordName"))
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("emailAddress", ifPresent: emailAddress)
      writer.member("phoneNumber", ifPresent: phoneNumber)
      writer.member("userRecordName", ifPresent: userRecordName)
    }
  }
}

extension PersonNameComponents {
  init(_ reader: MessageReader) throws(ServiceError) {
    self.init()
    namePrefix = try reader.optionalFreeText("namePrefix")
    givenName = try reader.optionalFreeText("givenName")
    middleName = try reader.optionalFreeText("middleName")
    familyName = try reader.optionalFreeText("familyName")
    nameSuffix = try reader.optionalFreeText("nameSuffix")
    nickname = try reader.optionalFreeText("nickname")
    if let phonetic = try reader.optional("phoneticRepresentation") {
      phoneticRepresentation = try PersonNameComponents(phonetic)
    }
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("namePrefix", ifPresent: namePrefix)
      writer.member("givenName", ifPresent: givenName)
      writer.member("middleName", ifPresent: middleName)
      writer.member("familyName", ifPresent: familyName)
      writer.member("nameSuffix", ifPresent: nameSuffix)
      writer.member("nickname", ifPresent: nickname)
      if let phoneticRepresentation {
        writer.key("phoneticRepresentation")
        phoneticRepresentation.write(to: &writer)
      }
    }
  }
}
