import CloudKitModel
import Foundation
import StoreModel
import Testing

extension RecordStoreConformance {
  struct SignIn {
    static let engines = StoreEngine.allCases

    @Test("a password's hash is kept, replaced, and nobody else's", arguments: engines)
    func passwords(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        _ = try await store.accounts.addUser(named: "zoe", at: TestStore.time(1))
        _ = try await store.accounts.addUser(named: "amir", at: TestStore.time(1))
        #expect(try await store.accounts.passwordHash(ofUserNamed: "zoe") == nil)
        try await store.accounts.setPasswordHash("first", ofUserNamed: "zoe", at: TestStore.time(2))
        let zoe = try #require(try await store.accounts.user(named: "zoe"))
        try await store.accounts.addWebAuthToken(
          WebAuthToken(
            hash: [1], userRecordName: zoe.userRecordName, created: TestStore.time(2),
            expires: TestStore.time(9),
            session: WebAuthToken.Session(
              id: [7], container: "iCloud.a", environment: .production, lifetime: 1800)))
        try await store.accounts.setPasswordHash(
          "second", ofUserNamed: "zoe", at: TestStore.time(3))
        #expect(try await store.accounts.webAuthToken(withHash: [1]) == nil)
        #expect(try await store.accounts.passwordHash(ofUserNamed: "zoe") == "second")
        #expect(try await store.accounts.passwordHash(ofUserNamed: "amir") == nil)
        #expect(try await store.accounts.passwordHash(ofUserNamed: "nobody") == nil)
        let error = await #expect(throws: StoreError.self) {
          try await store.accounts.setPasswordHash(
            "x", ofUserNamed: "nobody", at: TestStore.time(3))
        }
        #expect(error?.code == .notFound)
      }
    }

    @Test("an identity is one user for ever; issuer and subject both count", arguments: engines)
    func identities(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        func user(_ issuer: String, _ subject: String, at second: Int64) async throws -> User {
          try await store.accounts.user(
            boundTo: IssuedIdentity(issuer: issuer, subject: subject),
            proposing: "\(issuer) \(subject)", profile: UserProfile(),
            at: TestStore.time(second))
        }
        let first = try await user("https://a", "1", at: 1)
        #expect(first.name == "https://a 1")
        #expect(try await user("https://a", "1", at: 2) == first)
        #expect(try await user("https://b", "1", at: 3) != first)
        #expect(try await user("https://a", "2", at: 4) != first)
        #expect(try await store.accounts.users().count == 3)
      }
    }

    @Test("a first sign-in never takes over another's name or address", arguments: engines)
    func collisions(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        let profile = try UserProfile(
          emailAddress: "zoe@example.com", phoneNumber: "0301234", nameComponents: nil)
        let local = try await store.accounts.addUser(
          named: "zoe", profile: profile, at: TestStore.time(1))
        let issued = try await store.accounts.user(
          boundTo: IssuedIdentity(issuer: "https://a", subject: "1"), proposing: "zoe",
          profile: profile, at: TestStore.time(2))
        #expect(issued.userRecordName != local.userRecordName)
        #expect(issued.name == issued.userRecordName)
        #expect(issued.profile == UserProfile())
        #expect(try await store.accounts.user(named: "zoe") == local)
      }
    }

    @Test("sign-ins at the same moment make one user", arguments: engines)
    func together(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        let identity = IssuedIdentity(issuer: "https://a", subject: "1")
        let names = try await withThrowingTaskGroup(of: String.self) { group in
          for number in 1...20 {
            group.addTask {
              try await store.accounts.user(
                boundTo: identity, proposing: "user \(number)", profile: UserProfile(),
                at: TestStore.time(1)
              ).userRecordName
            }
          }
          return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(names.count == 1)
        #expect(try await store.accounts.users().count == 1)
      }
    }
  }
}
