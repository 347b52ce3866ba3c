import CloudKitModel
import HTTPService
import JSONCoding
import StoreModel
import WebServices

/// Deletes users with all that is theirs.
struct AdminUserDeletionEndpoints: AdminEndpoints {
  let users: any AccountReading
  let store: any UserDeletionStore
  let accounts: AdminAccounts

  private static let publicRecords = AdminArgument(
    "publicRecords", .word(UserDeletion.PublicRecords.allCases.map(\.rawValue)),
    "whether public records that the user created stay, naming nobody, or are deleted")

  var endpoints: [AdminEndpoint] {
    [
      .post("users/delete", [.needed("user"), .needed(Self.publicRecords)], delete)
        .described(
          "Begins to delete a user with all that is the user's; the server goes on by itself",
          answers: .userDeletion),
      .get("users/deletions", [], list)
        .described(
          "The deletions of users that are under way",
          answers: .object(["deletions": .list(.userDeletion)])),
    ]
  }

  private func delete(_ request: AdminRequest) async throws -> HTTPResponse {
    let user = try await request.user(in: users)
    guard
      let publicRecords = UserDeletion.PublicRecords(
        rawValue: try request.arguments.required("publicRecords"))
    else { throw request.arguments.mistake("publicRecords", "must be keep or delete") }
    let deletion: UserDeletion
    do {
      deletion = try await store.beginUserDeletion(
        named: user.name, publicRecords: publicRecords, at: request.now)
    } catch let error as StoreError where error.code == .notFound {
      throw ServiceError(.notFound, error.reason)
    }
    accounts.webAuthTokens?.forget(userRecordName: user.userRecordName)
    return request.object { deletion.write(to: &$0) }
  }

  private func list(_ request: AdminRequest) async throws -> HTTPResponse {
    let deletions = try await store.userDeletions()
    return request.object { writer in
      writer.key("deletions")
      writer.array { writer in
        for deletion in deletions { writer.object { deletion.write(to: &$0) } }
      }
    }
  }
}

extension UserDeletion {
  /// The members of ``JSONSchema/userDeletion``.
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("identifier", identifier)
    writer.member("name", ifPresent: name)
    writer.member("userRecordName", ifPresent: userRecordName)
    writer.member("publicRecords", publicRecords.rawValue)
    writer.member("stage", "\(stage)")
    writer.member("stageNumber", Int(stage.rawValue))
    writer.member("stages", Stage.allCases.count)
    writer.member("done", done)
    writer.member("began", began)
  }
}
