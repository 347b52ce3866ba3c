import CloudKitModel
import Foundation
import JSONCoding
import StoreModel
import Testing

@testable import DatabaseAPI

struct SessionTests {
  private static let header = "x-apple-cloudkit-web-auth-token"

  private func caller(
    _ service: Service, _ user: TestUser, apiToken: String? = nil
  ) async throws -> Answer {
    try await service.send("public/users/caller", "", method: "GET", apiToken: apiToken, as: user)
  }

  @Test("A user's sessions end by signing out and by a new password, within half a minute")
  func endOfSessions() async throws {
    try await withService { service in
      let ends: [(Bool, () async throws -> Void)] = [
        (
          false,
          {
            let count = try await Account.signOut(
              userNamed: service.alice.name, everywhere: false, in: service.store.accounts,
              at: service.clock.read())
            #expect(count == 2)
          }
        ),
        (
          false,
          {
            try await Account.setPassword(
              "correct horse", ofUserNamed: service.alice.name, in: service.store.accounts,
              at: service.clock.read())
          }
        ),
        (
          true,
          {
            let count = try await Account.signOut(
              userNamed: service.alice.name, everywhere: true, in: service.store.accounts,
              at: service.clock.read())
            #expect(count == 3)
          }
        ),
      ]
      let other = try await service.signIn(service.bob)
      let reader = try await service.makeReader(as: service.alice)
      for (isEverywhere, end) in ends {
        let sessions = [
          try await service.signIn(service.alice),
          try await service.signIn(service.alice, staysSignedIn: true),
        ]
        for session in sessions { #expect(try await caller(service, session).status == 200) }
        try await end()
        service.clock.advance(bySeconds: 31)
        for session in sessions {
          let answer = try await caller(service, session, apiToken: "any")
          #expect(answer.failure == "421 AUTHENTICATION_REQUIRED")
        }
        let native = try await caller(service, service.alice)
        #expect(native.status == (isEverywhere ? 401 : 200))
        #expect(try await caller(service, other).status == 200)
        let isReading = try await service.store.devices.deviceTokens(of: service.alice.recordName)
          .count
        #expect(isReading == (isEverywhere ? 0 : 1))
      }
      #expect(try await service.poll(reader).status == 401)
      let error = await #expect(throws: StoreError.self) {
        _ = try await Account.signOut(
          userNamed: "nobody", everywhere: false, in: service.store.accounts, at: .now)
      }
      #expect(error?.reason.contains("no user named 'nobody'") == true)
      // The server is asked with alice's token when the test is over.
      try await Account.addToken(
        service.alice.token,
        for: try await Account.user(named: service.alice.name, in: service.store.accounts),
        in: service.store.accounts, lifetime: 600, at: service.clock.read())
    }
  }

  @Test("Every answer carries the token to use next, errors too; a native client's stays as it is")
  func header() async throws {
    try await withService { service in
      var user = try await service.signIn(service.alice)
      let first = try await caller(service, user)
      #expect(first.headers[Self.header] == user.token)
      let bad = try await service.post("public/records/query", "no JSON", as: user)
      #expect(bad.failure == "400 BAD_REQUEST")
      #expect(bad.headers[Self.header] == user.token)
      service.clock.advance(bySeconds: 61)
      let second = try await caller(service, user)
      let next = try #require(second.headers[Self.header])
      #expect(next != user.token)
      // The same for all requests with the old one.
      #expect(try await caller(service, user).headers[Self.header] == next)
      user.token = next
      let third = try await caller(service, user)
      #expect(third.json["userRecordName"]?.string == service.alice.recordName)
      #expect(third.headers[Self.header] == next)
      #expect(try await caller(service, service.alice).headers[Self.header] == nil)
      service.clock.advance(bySeconds: 86_400)
      #expect(try await caller(service, service.alice).headers[Self.header] == nil)
    }
  }

  @Test("Once a successor was used, the one before is taken for the grace time only")
  func grace() async throws {
    try await withService { service in
      var user = try await service.signIn(service.alice, staysSignedIn: true)
      let old = user
      service.clock.advance(bySeconds: 61)
      user.token = try #require(try await caller(service, user).headers[Self.header])
      // The client did not take it up yet.
      service.clock.advance(bySeconds: 3600)
      #expect(try await caller(service, old).status == 200)
      #expect(try await caller(service, user).status == 200)
      service.clock.advance(bySeconds: SessionRotation.grace - 1)
      let inGrace = try await caller(service, old)
      #expect(inGrace.status == 200)
      #expect(inGrace.headers[Self.header] != old.token)
      service.clock.advance(bySeconds: WebAuthTokens.trust + 1)
      #expect(try await caller(service, old).failure == "401 AUTHENTICATION_FAILED")
      #expect(try await caller(service, user).status == 200)
      // A restart forgets nothing of that.
      try await service.restart()
      #expect(try await caller(service, old).failure == "401 AUTHENTICATION_FAILED")
      #expect(try await caller(service, user).status == 200)
    }
  }

  @Test("A session lives on as long as it is used, by one token after another")
  func longSession() async throws {
    try await withService { service in
      var user = try await service.signIn(service.alice)
      for round in 0..<8 {
        service.clock.advance(bySeconds: 1500)
        let answer = try await caller(service, user)
        #expect(answer.status == 200, "round \(round)")
        let next = try #require(answer.headers[Self.header])
        #expect(next != user.token)
        user.token = next
        if round == 4 { try await service.restart() }
      }
      service.clock.advance(bySeconds: 1801)
      #expect(try await caller(service, user).failure == "401 AUTHENTICATION_FAILED")
    }
  }

  @Test("A client that goes on with one token may, until that expires")
  func constant() async throws {
    try await withService { service in
      let user = try await service.signIn(service.alice)
      for _ in 0..<5 {
        service.clock.advance(bySeconds: 350)
        #expect(try await caller(service, user).status == 200)
      }
      service.clock.advance(bySeconds: 60)
      #expect(try await caller(service, user).failure == "401 AUTHENTICATION_FAILED")
    }
  }

  @Test("A web app whose token has expired is told where to sign in again")
  func expired() async throws {
    try await withService { service in
      let token = try await service.addAPIToken()
      var user = try await service.signIn(service.alice)
      #expect(try await caller(service, user, apiToken: token).status == 200)
      service.clock.advance(bySeconds: 1801)
      let expired = try await caller(service, user, apiToken: token)
      #expect(expired.failure == "421 AUTHENTICATION_REQUIRED")
      #expect(expired.json["redirectURL"]?.string?.contains("/sign-in?") == true)
      user.token = "unknown"
      let unknown = try await caller(service, user, apiToken: token)
      #expect(unknown.failure == "421 AUTHENTICATION_REQUIRED")
      #expect(unknown.headers[Self.header] == nil)
    }
  }

  @Test("Many requests at once make one successor")
  func concurrency() async throws {
    try await withService { service in
      let user = try await service.signIn(service.alice)
      _ = try await caller(service, user)
      service.clock.advance(bySeconds: 61)
      let tokens = try await withThrowingTaskGroup(of: String?.self) { group in
        for _ in 0..<24 {
          group.addTask { try await caller(service, user).headers[Self.header] }
        }
        return try await group.reduce(into: Set<String>()) { $0.insert($1 ?? "") }
      }
      // Those that came while it was made go on with the old one.
      #expect(tokens.subtracting([user.token]).count == 1)
      #expect(!tokens.contains(""))
    }
  }
}
