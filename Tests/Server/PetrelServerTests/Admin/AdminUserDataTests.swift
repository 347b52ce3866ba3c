import CloudKitModel
import Foundation
import JSONCoding
import Testing
import Waiting

@testable import PetrelServer

struct AdminUserDataTests {
  @Test("a deletion ends the user's requests at once, and goes on by itself to its end")
  func deletion() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let begun = try await service.adminPost(
        "users/delete", ["user": "bob", "publicRecords": "keep"], key: key)
      #expect(begun.status == 200, "\(begun.json)")
      #expect(begun.json["name"] == "bob" && begun.json["stageNumber"] == 1)
      #expect(begun.json["publicRecords"] == "keep")
      let refused = try await service.get("public/users/caller", as: service.bob)
      #expect(refused.status == 401, "\(refused.json)")
      try await eventually("the deletion comes to its end") {
        let left = try await service.adminGet("users/deletions", key: key)
        return left.json["deletions"]?.array?.isEmpty == true
      }
      #expect(try await service.adminGet("users/show?user=bob", key: key).status == 404)
    }
  }

  @Test("what a deletion is to do with public records has to be said, and rightly")
  func choices() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      for (body, text) in [
        (["user": "bob"], "'publicRecords' is missing"),
        (["user": "bob", "publicRecords": "hide"], "must be keep or delete, not 'hide'"),
        (["publicRecords": "keep"], "'user' is missing"),
      ] as [(JSONValue, String)] {
        let answer = try await service.adminPost("users/delete", body, key: key)
        #expect(answer.status == 400 && answer.json.text.contains(text), "\(answer.json)")
      }
      let nobody = try await service.adminPost(
        "users/delete", ["user": "nobody", "publicRecords": "keep"], key: key)
      #expect(nobody.status == 404)
      #expect(try await service.adminGet("users/show?user=bob", key: key).status == 200)
      #expect(
        try await service.adminGet("users/deletions", key: key).json["deletions"]?.array == [])
    }
  }

  @Test("a user who is being deleted gets nothing from the operator either")
  func late() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let user = try #require(try await service.store.accounts.user(named: "bob"))
      _ = try await service.store.userDeletion.beginUserDeletion(
        named: "bob", publicRecords: .keep, at: .now)
      for (path, body) in [
        ("users/add-token", ["user": .string(user.userRecordName)]),
        (
          "records/modify",
          [
            "container": .string(Service.container), "database": "private",
            "user": .string(user.userRecordName),
            "operations": [
              [
                "operationType": "create",
                "record": ["recordName": "n", "recordType": "Note", "fields": [:]],
              ]
            ],
          ]
        ),
      ] as [(String, JSONValue)] {
        let answer = try await service.adminPost(path, body, key: key)
        #expect(answer.status == 404, "\(path): \(answer.json)")
      }
    }
  }
}
