import CloudKitModel
import Storage
import StoreModel
import WebServices

/// The endpoints `users/delete` and `users/deletions`. `users/delete` begins the deletion of a user
/// and of the user's data. `users/deletions` lists the deletions that are not finished.
///
/// A deletion runs in stages. An answer shows the present stage. `done` is the number of rows that
/// were deleted or made anonymous so far:
///
///     { "identifier": "0f3a…", "name": "alice", "publicRecords": "keep", "stage": "publicRecords",
///       "stageNumber": 3, "stages": 10, "done": 1200, "began": 1764331200000 }
struct AdminUserDeletionEndpoints: AdminEndpoints {
  let users: AccountService
  let store: UserDeletionService
  let accounts: AdminAccounts

  /// The argument that decides about the user's records in public databases. It has no default.
  private static let publicRecords = AdminArgument(
    "publicRecords", .word(UserDeletion.PublicRecords.allCases.map(\.rawValue)),
    "the choice for public records that the user created: keep removes only the user's name from "
      + "them, delete deletes them", "WHAT")

  private static let deletion = AnswerShape<UserDeletion>("UserDeletion") { deletion in
    deletion.member("identifier") { $0.identifier }
    deletion.optional("name") { $0.name }
    deletion.optional("userRecordName") { $0.userRecordName }
    deletion.member("publicRecords") { $0.publicRecords }
    deletion.member("stage", as: .word(UserDeletion.Stage.allCases.map { "\($0)" })) {
      "\($0.stage)"
    }
    deletion.member("stageNumber", as: .count) { $0.stage.rawValue }
    deletion.member("stages", as: .count) { _ in UserDeletion.Stage.allCases.count }
    deletion.member("done", as: .count) { $0.done }
    deletion.member("began") { $0.began }
  }

  static let endpoints: [AdminHandler<Self>] = [
    .post(
      "users/delete", [.user.needed, Self.publicRecords.needed],
      "Begins to delete a user and all data of the user; the server continues in the background",
      answers: Self.deletion, Self.delete),
    .get(
      "users/deletions", [], "The deletions of users that are under way",
      answers: .list("deletions", of: Self.deletion)
    ) { group in { _ in try await group.store.userDeletions() } },
  ]

  /// Begins a deletion. The server continues it in the background, and the user's tokens are
  /// invalid at once.
  private func delete(_ request: AdminRequest) async throws -> UserDeletion {
    let user = try await request.user(in: users)
    guard
      let publicRecords: UserDeletion.PublicRecords = request.arguments.word(Self.publicRecords)
    else { throw request.arguments.mistake(Self.publicRecords, "is missing") }
    let deletion: UserDeletion
    do {
      deletion = try await store.beginUserDeletion(
        named: user.name, publicRecords: publicRecords, at: request.now)
    } catch let error as StoreError where error.code == .notFound {
      throw ServiceError(.notFound, error.reason)
    }
    accounts.webAuthTokens?.forget(userRecordName: user.userRecordName)
    return deletion
  }
}

extension UserDeletion.PublicRecords: MessagePart {}
