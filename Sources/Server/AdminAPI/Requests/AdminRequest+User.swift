import CloudKitModel
import Foundation
import Storage
import StoreModel
import WebServices

extension AdminRequest {
  /// Returns the account that the argument `user` names. The value is an account's name or a user
  /// record name. The method compares it with account names first.
  ///
  /// - Throws: `BAD_REQUEST` if the argument is missing, and `NOT_FOUND` if there is no such
  ///   account.
  func user(in store: AccountService) async throws -> User {
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

  /// The shape of an account with a new web auth token. No later answer contains this token.
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
