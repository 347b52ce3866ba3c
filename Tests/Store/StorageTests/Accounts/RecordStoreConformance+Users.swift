import CloudKitModel
import Foundation
import StoreModel
import Testing

extension RecordStoreConformance {
  struct Users {
    static let engines = StoreEngine.allCases
    private static let container = "iCloud.a"

    private func profile(email: String? = nil, phone: String? = nil) throws -> UserProfile {
      var names = PersonNameComponents()
      names.namePrefix = "Dr."
      names.givenName = "Zoe"
      names.middleName = "M."
      names.familyName = "Berg"
      names.nameSuffix = "Jr."
      names.nickname = "Zo"
      return try UserProfile(emailAddress: email, phoneNumber: phone, nameComponents: names)
    }

    @Test("a user's profile is kept", arguments: engines)
    func profiles(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        let profile = try profile(email: " Zoe@Example.COM", phone: "(030) 12-34")
        #expect(profile.emailAddress == "zoe@example.com")
        #expect(profile.phoneNumber == "0301234")
        let zoe = try await store.accounts.addUser(
          named: "zoe", profile: profile, at: TestStore.time(1))
        #expect(zoe.profile == profile)
        #expect(try await store.accounts.user(named: "zoe") == zoe)
        #expect(try await store.accounts.user(withRecordName: zoe.userRecordName) == zoe)
        let amir = try await store.accounts.addUser(named: "amir", at: TestStore.time(2))
        #expect(amir.profile == UserProfile())
        #expect(try await store.accounts.users() == [amir, zoe])
      }
    }

    @Test("no two users have the same address or number", arguments: engines)
    func uniqueness(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        let zoe = try profile(email: "zoe@example.com", phone: "0301234")
        _ = try await store.accounts.addUser(named: "zoe", profile: zoe, at: .now)
        for other in [
          try profile(email: "ZOE@example.com"), try profile(phone: "030 1234"),
        ] {
          #expect(
            await storeError {
              _ = try await store.accounts.addUser(named: "b", profile: other, at: .now)
            }
              == .exists)
        }
        #expect(try await store.accounts.users().count == 1)
      }
    }

    @Test("no two users have names that differ only in case or spaces", arguments: engines)
    func namesInAnyCase(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let accounts = test.store.accounts
        _ = try await accounts.addUser(named: "ben", at: .now)
        _ = try await accounts.addUser(named: "Jürgen", at: .now)
        _ = try await accounts.addUser(named: "Straße", at: .now)
        for (name, other) in [
          ("Ben", "ben"), ("BEN", "ben"), ("JÜRGEN", "Jürgen"), ("ben ", "ben"),
          ("STRASSE", "Straße"),
          ("strasse", "Straße"),
        ] {
          let error = await #expect(throws: StoreError.self) {
            try await accounts.addUser(named: name, at: .now)
          }
          #expect(error?.code == .exists)
          #expect(
            error?.reason
              == "a user named '\(other)' already exists, and '\(name)' differs from it only in "
              + "case or spaces; choose another name")
        }
        #expect(try await accounts.users().map(\.name) == ["Jürgen", "Straße", "ben"])
        #expect(try await accounts.user(named: "Ben") == nil)
      }
    }

    @Test("what is no address or number makes no profile")
    func malformed() {
      for email in ["", "zoe", "@x", "zoe@", "a@b@c", "a b@c"] {
        #expect(throws: ModelError.self) { try profile(email: email) }
      }
      for phone in ["", "+", "12", "+49x", "1+2345", String(repeating: "1", count: 16)] {
        #expect(throws: ModelError.self) { try profile(phone: phone) }
      }
    }

    @Test("permissions belong to a user, a container and an environment", arguments: engines)
    func permissions(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        func status(
          _ user: String, _ container: String, _ environment: ContainerEnvironment
        ) async throws -> ApplicationPermission.Status? {
          try await store.accounts.applicationPermissions(
            of: user, container: container, environment: environment)[.userDiscoverability]
        }
        #expect(try await status("_a", Self.container, .development) == nil)
        for decision in [ApplicationPermission.Status.granted, .denied, .granted] {
          try await store.accounts.setApplicationPermissions(
            [.userDiscoverability: decision],
            by: ContainerMaker(userRecordName: "_a", timestamp: Timestamp(milliseconds: 0)),
            container: Self.container,
            environment: .development)
          #expect(try await status("_a", Self.container, .development) == decision)
        }
        #expect(try await status("_a", Self.container, .production) == nil)
        #expect(try await status("_a", "iCloud.b", .development) == nil)
        #expect(try await status("_b", Self.container, .development) == nil)
      }
    }

    @Test("those are found who permit it, in the order asked for", arguments: engines)
    func discovery(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        let zoe = try await store.accounts.addUser(
          named: "zoe", profile: try profile(email: "zoe@example.com", phone: "0301234"),
          at: .now)
        let amir = try await store.accounts.addUser(
          named: "amir", profile: try profile(email: "amir@example.com"), at: .now)
        let lookups = [
          UserLookup(emailAddress: "amir@example.com"), UserLookup(phoneNumber: "030/1234"),
          UserLookup(emailAddress: "nobody@example.com"), UserLookup(emailAddress: "nonsense"),
          UserLookup(userRecordName: zoe.userRecordName),
        ]
        func found() async throws -> [String?] {
          try await store.accounts.discoverableUsers(
            matching: lookups, container: Self.container, environment: .development
          ).map { $0?.name }
        }
        #expect(try await found() == [nil, nil, nil, nil, nil])
        try await store.accounts.setApplicationPermissions(
          [.userDiscoverability: .granted],
          by: ContainerMaker(
            userRecordName: zoe.userRecordName, timestamp: Timestamp(milliseconds: 0)),
          container: Self.container,
          environment: .development)
        #expect(try await found() == [nil, "zoe", nil, nil, "zoe"])
        try await store.accounts.setApplicationPermissions(
          [.userDiscoverability: .granted],
          by: ContainerMaker(
            userRecordName: amir.userRecordName, timestamp: Timestamp(milliseconds: 0)),
          container: Self.container,
          environment: .development)
        #expect(try await found() == ["amir", "zoe", nil, nil, "zoe"])
        let all = try await store.accounts.discoverableUsers(
          container: Self.container, environment: .development, limit: 9)
        #expect(Set(all) == [zoe, amir])
        #expect(all.map(\.userRecordName) == all.map(\.userRecordName).sorted())
        let one = try await store.accounts.discoverableUsers(
          container: Self.container, environment: .development, limit: 1)
        #expect(one == [all[0]])
        let production = try await store.accounts.discoverableUsers(
          container: Self.container, environment: .production, limit: 9)
        #expect(production.isEmpty)
      }
    }
  }
}
