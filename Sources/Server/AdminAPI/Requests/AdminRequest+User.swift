import CloudKitModel
import Foundation
import JSONCoding
import StoreModel
import WebServices

extension AdminRequest {
  /// The account that the argument `user` names, by its name or its user record name.
  ///
  /// - Throws: `NOT_FOUND` when there is none.
  func user(in store: any AccountReading) async throws -> User {
    let word = try arguments.required("user")
    if let user = try await store.user(named: word) { return user }
    if let user = try await store.user(withRecordName: word) { return user }
    throw ServiceError(.notFound, "there is no user named '\(word.prefix(80))'")
  }
}

extension User {
  /// The members of ``JSONSchema/user``.
  func write(to writer: inout JSONWriter) {
    writer.member("name", name)
    writer.member("userRecordName", userRecordName)
    writer.member("created", created)
    writer.member("emailAddress", ifPresent: profile.emailAddress)
    writer.member("phoneNumber", ifPresent: profile.phoneNumber)
    writer.member("fullName", ifPresent: profile.nameComponents?.fullName)
    if isBeingDeleted { writer.member("isBeingDeleted", true) }
  }
}

extension PersonNameComponents {
  /// Given and family names, as people write them in most places.
  fileprivate var fullName: String? {
    let parts = [namePrefix, givenName, middleName, familyName, nameSuffix].compactMap { $0 }
    return parts.isEmpty ? nickname : parts.joined(separator: " ")
  }
}
