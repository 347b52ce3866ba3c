import CloudKitModel
import JSONCoding
import Testing

@testable import PetrelServer

struct AdminRolesTests {
  private static let place: [String: JSONValue] = ["container": .string(Service.container)]
  private static let schema = """
    DEFINE SCHEMA
    CREATE ROLE Editor;
    CREATE ROLE Guest;
    RECORD TYPE Note (title STRING, GRANT READ, WRITE, CREATE TO Editor);
    """

  private func withRoles(_ body: (Service, String) async throws -> Void) async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let answer = try await service.adminPost(
        "schema/import", .object(Self.place.merging(["text": .string(Self.schema)]) { $1 }),
        key: key)
      try #require(answer.status == 200, "\(answer.json)")
      try await body(service, key)
    }
  }

  private func set(
    _ path: String, _ role: String, _ user: String, _ key: String, at service: Service
  ) async throws -> Answer {
    try await service.adminPost(
      "roles/\(path)",
      .object(Self.place.merging(["role": .string(role), "user": .string(user)]) { $1 }), key: key)
  }

  private func roles(_ key: String, at service: Service) async throws -> JSONValue? {
    try await service.adminGet("roles?container=\(Service.container)", key: key).json["roles"]
  }

  @Test("a role that is given or taken away holds from the next request on")
  func atOnce() async throws {
    try await withRoles { service, key in
      func outcome(_ name: String) async throws -> [String] {
        try await service.modify(Service.operation("create", name), as: service.bob).outcomes
      }
      #expect(try await outcome("a") == ["ACCESS_DENIED"])
      let granted = try await set("grant", "Editor", "bob", key, at: service)
      #expect(granted.status == 200 && granted.json["member"] == "bob", "\(granted.json)")
      #expect(granted.json["userRecordName"]?.string == service.bob.recordName)
      #expect(try await outcome("a") == ["ok"])
      // Twice is once.
      #expect(try await set("grant", "Editor", "bob", key, at: service).status == 200)
      #expect(
        try await roles(key, at: service) == [
          ["role": "Editor", "members": ["bob"]], ["role": "Guest", "members": []],
        ])
      let revoked = try await set("revoke", "Editor", service.bob.recordName, key, at: service)
      #expect(revoked.status == 200 && revoked.json["member"] == "bob", "\(revoked.json)")
      #expect(try await outcome("b") == ["ACCESS_DENIED"])
    }
  }

  @Test("a server-to-server key has roles by its ID")
  func serverKeys() async throws {
    try await withRoles { service, key in
      let client = try await ServerKeyClient(service)
      let granted = try await set("grant", "Guest", client.key.keyID, key, at: service)
      #expect(granted.json["userRecordName"]?.string == client.key.userRecordName)
      #expect(
        try await roles(key, at: service)?.array?.last?["members"] == [
          .string(client.key.keyID)
        ])
      #expect(
        try await service.store.schemas.members(
          of: "Guest", container: Service.container, environment: .development)
          == [client.key.userRecordName])
    }
  }

  @Test(
    "a role or a user that is not there is told, and which roles there are",
    arguments: [
      ("Editr", "bob", "404 NOT_FOUND", "has no role 'Editr'; it has 'Editor', 'Guest'"),
      ("_world", "bob", "400 BAD_REQUEST", "'_world' is a role of the system"),
      ("Editor", "zoe", "404 NOT_FOUND", "neither a user 'zoe' nor a server-to-server key"),
      ("", "bob", "400 BAD_REQUEST", "'role' is missing"),
    ])
  func mistakes(_ role: String, _ user: String, _ failure: String, _ reason: String) async throws {
    try await withRoles { service, key in
      for path in ["grant", "revoke"] {
        let answer = try await set(path, role, user, key, at: service)
        #expect(answer.failure == failure)
        #expect(answer.reason.contains(reason), "\(answer.reason)")
      }
      let production = try await service.adminPost(
        "roles/grant",
        [
          "container": .string(Service.container), "environment": "production", "role": "Editor",
          "user": "bob",
        ], key: key)
      #expect(production.reason.contains("import a schema that creates it"))
    }
  }
}
