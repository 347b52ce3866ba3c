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
    try coder.optional("userRecordName", &userRecordName)
    try coder.optional("nameComponents", &nameComponents)
    try coder.optional("lookupInfo", &lookup, "The value that found the user.")
  }
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
    try coder.optional("userRecordName", &userRecordName)
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
