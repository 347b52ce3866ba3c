import CloudKitModel
import Foundation
import JSONCoding
import StoreModel
import Testing

@testable import DatabaseAPI

struct UsersTests {
  private static let permit =
    #"{"permissions": [{"permission": "USER_DISCOVERABILITY", "status": "GRANTED"}]}"#

  /// Adds a user of whom something is known.
  private func addEva(to service: Service) async throws -> TestUser {
    var names = PersonNameComponents()
    names.givenName = "Eva"
    names.familyName = "Berg"
    let user = try await service.store.accounts.addUser(
      named: "eva",
      profile: UserProfile(
        emailAddress: "Eva@Example.com", phoneNumber: "+49 (30) 123-45", nameComponents: names),
      at: .now)
    return TestUser(
      name: "eva", recordName: user.userRecordName,
      token: try await Account.makeToken(for: user, in: service.store.accounts, at: .now))
  }

  @Test("The caller gets its own user dictionary, in the new form and the old")
  func caller() async throws {
    try await withService { service in
      let eva = try await addEva(to: service)
      let caller = try await service.get("public/users/caller", as: eva)
      #expect(caller.json["userRecordName"]?.string == eva.recordName)
      #expect(caller.json["nameComponents"] == ["givenName": "Eva", "familyName": "Berg"])
      #expect(
        caller.json["lookupInfo"]
          == [
            "emailAddress": "eva@example.com", "phoneNumber": "+493012345",
            "userRecordName": .string(eva.recordName),
          ])
      let current = try await service.get("public/users/current", as: eva)
      #expect(
        current.json
          == [
            "userRecordName": .string(eva.recordName), "firstName": "Eva", "lastName": "Berg",
            "emailAddress": "eva@example.com",
          ])
      let alice = try await service.get("public/users/caller", as: service.alice)
      #expect(alice.json["nameComponents"] == nil)
    }
  }

  @Test(
    "Only signed-in users get an answer",
    arguments: [
      "users/caller", "users/current", "users/discover", "users/lookup/email", "users/lookup/id",
      "users/lookup/contacts", "users/permissions", "records/resolve", "records/accept",
      "records/requestAccess",
    ])
  func anonymous(_ operation: String) async throws {
    try await withService { service in
      let answer = try await service.post("public/\(operation)", "{}", as: nil)
      #expect(answer.failure == "421 AUTHENTICATION_REQUIRED")
    }
  }

  @Test("A user is found only after permitting it, and in that container only")
  func discoverability() async throws {
    try await withService { service in
      let eva = try await addEva(to: service)
      let body = #"{"lookupInfos": [{"emailAddress": "EVA@example.com"}]}"#
      let hidden = try await service.post("public/users/discover", body, as: service.alice)
      #expect(hidden.json["users"]?.array == [])
      let before = try await service.get("public/users/permissions", as: eva)
      #expect(before.json["permissions"]?.array?.first?["status"]?.string == "INITIAL_STATE")
      let granted = try await service.post("public/users/permissions", Self.permit, as: eva)
      #expect(granted.json["permissions"]?.array?.first?["status"]?.string == "GRANTED")
      let found = try await service.post("public/users/discover", body, as: service.alice)
      #expect(
        found.json["users"]?.array == [
          [
            "userRecordName": .string(eva.recordName),
            "nameComponents": ["givenName": "Eva", "familyName": "Berg"],
            // What was asked by, and nothing else that the server knows.
            "lookupInfo": ["emailAddress": "EVA@example.com"],
          ]
        ])
      let elsewhere = try await service.client.send(
        "POST",
        service.target("public/users/discover", as: service.alice)
          .replacingOccurrences(of: Service.container, with: "iCloud.com.example.other"),
        body: Data(body.utf8))
      #expect(elsewhere.json["users"]?.array == [])
      let denied = Self.permit.replacingOccurrences(of: "GRANTED", with: "DENIED")
      _ = try await service.post("public/users/permissions", denied, as: eva)
      let gone = try await service.post("public/users/discover", body, as: service.alice)
      #expect(gone.json["users"]?.array == [])
    }
  }

  @Test("Users who permit nothing find themselves by record name, and nobody else finds them")
  func ownName() async throws {
    try await withService { service in
      let eva = try await addEva(to: service)
      let body = #"{"lookupInfos": [{"userRecordName": "\#(eva.recordName)"}]}"#
      let own = try await service.post("public/users/discover", body, as: eva)
      #expect(
        own.json["users"]?.array == [
          [
            "userRecordName": .string(eva.recordName),
            "nameComponents": ["givenName": "Eva", "familyName": "Berg"],
            "lookupInfo": ["userRecordName": .string(eva.recordName)],
          ]
        ])
      let foreign = try await service.post("public/users/discover", body, as: service.alice)
      #expect(foreign.json["users"]?.array == [])
    }
  }

  @Test("Users are found by e-mail address, phone number and record name, through each call")
  func lookups() async throws {
    try await withService { service in
      let eva = try await addEva(to: service)
      _ = try await service.post("public/users/permissions", Self.permit, as: eva)
      let name = #"{"userRecordName": "\#(eva.recordName)"}"#
      let email = #"{"emailAddress": "eva@example.com"}"#
      let phone = #"{"phoneNumber": "+49 30 12345"}"#
      let requests = [
        ("users/discover", #"{"lookupInfos": [\#(name), \#(email), \#(phone)]}"#, 3),
        ("users/discover", #"{"lookupInfos": [{"emailAddress": "no address"}]}"#, 0),
        ("users/lookup/email", #"{"users": [\#(email), {"emailAddress": "b@x.org"}]}"#, 1),
        ("users/lookup/id", #"{"users": [\#(name), {"userRecordName": "_none"}]}"#, 1),
        ("users/lookup/contacts", #"{"contacts": [\#(email), \#(phone)]}"#, 2),
      ]
      for (operation, body, count) in requests {
        let answer = try await service.post("public/\(operation)", body, as: service.bob)
        let users = answer.json["users"]?.array ?? []
        #expect(users.count == count, "\(operation) \(body) \(answer.json)")
        #expect(users.allSatisfy { $0["userRecordName"]?.string == eva.recordName })
      }
      let all = try await service.get("public/users/discover", as: service.bob)
      #expect(all.json["users"]?.array?.count == 1)
      // No address that the caller did not ask by.
      #expect(
        all.json["users"]?.array?.first?["lookupInfo"]
          == ["userRecordName": .string(eva.recordName)])
      let own = try await service.get("public/users/discover", as: eva)
      #expect(own.json["users"]?.array == [])
    }
  }

  @Test("The older calls answer in the form of users/current, with no address but the one asked by")
  func olderForm() async throws {
    try await withService { service in
      let eva = try await addEva(to: service)
      _ = try await service.post("public/users/permissions", Self.permit, as: eva)
      let names: JSONValue = ["givenName": "Eva", "familyName": "Berg"]
      let common: [String: JSONValue] = [
        "userRecordName": .string(eva.recordName), "nameComponents": names,
        "firstName": "Eva", "lastName": "Berg",
      ]
      let byEmail = try await service.post(
        "public/users/lookup/email", #"{"users": [{"emailAddress": "eva@example.com"}]}"#,
        as: service.alice)
      var expected = common
      expected["emailAddress"] = "eva@example.com"
      expected["lookupInfo"] = ["emailAddress": "eva@example.com"]
      #expect(byEmail.json["users"]?.array?.map(\.object) == [expected])
      expected = common
      expected["lookupInfo"] = ["userRecordName": .string(eva.recordName)]
      let byID = try await service.post(
        "public/users/lookup/id", #"{"users": [{"userRecordName": "\#(eva.recordName)"}]}"#,
        as: service.alice)
      #expect(byID.json["users"]?.array?.map(\.object) == [expected])

      // Who asks for contacts lists nobody.
      let contacts = try await service.get("public/users/lookup/contacts", as: service.alice)
      #expect(contacts.json["users"]?.array?.map(\.object) == [expected], "\(contacts.json)")
      for body in ["", "{}", #"{"contacts": null}"#] {
        let posted = try await service.post(
          "public/users/lookup/contacts", body, as: service.alice)
        #expect(posted.json == contacts.json, "\(body)")
      }
      let own = try await service.get("public/users/lookup/contacts", as: eva)
      #expect(own.json == ["users": []])
    }
  }

  @Test("What a request lacks is named")
  func mistakes() async throws {
    try await withService { service in
      let wrong = try await service.post(
        "public/users/lookup/email", #"{"users": [{"userRecordName": "_a"}]}"#, as: service.alice)
      #expect(wrong.failure == "400 BAD_REQUEST")
      #expect(wrong.reason.contains("users[0]") && wrong.reason.contains("emailAddress"))
      let status = try await service.post(
        "public/users/permissions",
        Self.permit.replacingOccurrences(of: "GRANTED", with: "MAYBE"), as: service.alice)
      #expect(status.failure == "400 BAD_REQUEST")
      #expect(status.reason.contains("MAYBE"))
    }
  }

  @Test("A user's own record can be fetched, saved and fetched again, and others may read it")
  func usersRecord() async throws {
    try await withService { service in
      let name = service.alice.recordName
      let empty = try await service.lookup(name)
      #expect(empty[0]["recordType"]?.string == "Users")
      let saved = try await service.modify(
        Service.operation("create", name, #""city": {"value": "Berlin"}"#, type: "Users"))
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      let updated = try await service.modify(
        Service.operation(
          "update", name, #""city": {"value": "Suva"}"#, tag: saved[0].tag, type: "Users"))
      #expect(updated.outcomes == ["ok"], "\(updated.json)")
      let fetched = try await service.lookup(name, as: service.bob)
      #expect(fetched[0].field("city")?.string == "Suva")
      let unsaved = try await service.lookup(service.bob.recordName, "_nobody")
      #expect(unsaved.outcomes == ["ok", "NOT_FOUND"])
      let foreign = try await service.modify(
        Service.operation(
          "create", service.bob.recordName, #""city": {"value": "x"}"#, type: "Users"))
      #expect(foreign.outcomes == ["BAD_REQUEST"])
      let hidden = try await service.lookup(service.bob.recordName, in: "private")
      #expect(hidden.outcomes == ["NOT_FOUND"])
    }
  }
}
