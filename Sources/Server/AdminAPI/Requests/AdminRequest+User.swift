import CloudKitModel
import Foundation
import StoreModel
import WebServices

extension AdminRequest {
  /// The account that the argument `user` names, by its name or its user record name.
  ///
  /// - Throws: `NOT_FOUND` when there is none.
  func user(in store: any AccountReading) async throws -> User {
    let name = try arguments.required(.user)
    if let user = try await store.user(named: name) { return user }
    if let user = try await store.user(withRecordName: name) { return user }
    throw ServiceError(.notFound, "there is no user named '\(name.prefix(80))'")
  }
}

extension User {
  static let shape = AnswerShape<User>("User") { user in
    user.members(of: members) { $0 }
  }

  /// With a web auth token that was made for the account.
  static let shapeWithToken = AnswerShape<(user: User, token: String)>("UserWithToken") { made in
    made.members(of: members) { $0.user }
    made.member("token") { $0.token }
  }

  private static let members = AnswerShape<User> { user in
    user.member("name") { $0.name }
    user.member("userRecordName") { $0.userRecordName }
    user.member("created") { $0.created }
    user.optional("emailAddress") { $0.profile.emailAddress }
    user.optional("phoneNumber") { $0.profile.phoneNumber }
    user.optional("fullName") { $0.profile.nameComponents?.fullName }
    user.optional("isBeingDeleted") { $0.isBeingDeleted ? true : nil }
  }
}

extension PersonNameComponents {
  /// Given and family names, as people write them in most places.
  fileprivate var fullName: String? {
    let parts = [namePrefix, givenName, middleName, familyName, nameSuffix].compactMap { $0 }
    return parts.isEmpty ? nickname : parts.joined(separator: " ")
  }
}
