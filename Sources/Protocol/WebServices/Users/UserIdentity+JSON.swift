import CloudKitModel
import Foundation
import JSONCoding

/// The user dictionary of Apple's reference.
///
/// ```
/// { "userRecordName": "_ab12…", "nameComponents": { "givenName": "Mei", "familyName": "Chen" },
///   "lookupInfo": { "emailAddress": "mei@example.com" } }
/// ```
extension UserIdentity: MessageObject {
  package static let schemaName: String? = "UserIdentity"
  package static let blank = UserIdentity()

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var user = userRecordName.map { UserName(name: $0) }
    try coder.optional("userRecordName", &user)
    userRecordName = user?.name
    try coder.optional("nameComponents", &nameComponents)
    try coder.optional("lookupInfo", &lookup, "The value that found the user.")
  }
}

/// The record name of a user in a share.
private struct UserName: MessagePart {
  var name: String

  init(name: String) { self.name = name }

  init(_ reader: MessageReader) throws(ServiceError) { name = try reader.recordName() }

  func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.value(context.wireName(ofUser: name))
  }

  static func schema(in scope: SchemaScope) -> JSONSchema { .text }
}

/// The `lookupInfo` dictionary of Apple's reference.
extension UserLookup: MessageObject {
  package static let schemaName: String? = "UserLookup"
  package static let blank = UserLookup()

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.optional("emailAddress", &emailAddress)
    try coder.optional("phoneNumber", &phoneNumber)
    var user = userRecordName.map { UserName(name: $0) }
    try coder.optional("userRecordName", &user)
    userRecordName = user?.name
  }
}

/// The `nameComponents` dictionary of Apple's reference. Names are texts for people, so they may
/// contain any character.
extension PersonNameComponents: MessageObject {
  package static var schemaName: String? { "NameComponents" }
  package static var blank: PersonNameComponents { PersonNameComponents() }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.freeText("namePrefix", &namePrefix)
    try coder.freeText("givenName", &givenName)
    try coder.freeText("middleName", &middleName)
    try coder.freeText("familyName", &familyName)
    try coder.freeText("nameSuffix", &nameSuffix)
    try coder.freeText("nickname", &nickname)
    try coder.optional("phoneticRepresentation", &phoneticRepresentation)
  }
}
