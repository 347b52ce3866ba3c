import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  struct Credentials {
    static let engines = StoreEngine.allCases

    private func token(_ number: UInt8, in container: String = "iCloud.a") -> APIToken {
      APIToken(
        hash: [UInt8](repeating: number, count: 32), name: "web \(number)", container: container,
        environment: .development, created: TestStore.time(Int64(number)))
    }

    private func key(_ number: Int, publicKey: String = "PEM") -> ServerKey {
      ServerKey(
        keyID: "key\(number)", name: "feed", container: "iCloud.a", environment: .production,
        publicKey: publicKey, userRecordName: "_user\(number)", created: TestStore.time(1))
    }

    @Test("API tokens are kept with all they have, and found by container", arguments: engines)
    func apiTokens(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        var full = token(1)
        full.signInCallback = .redirect(url: "https://a.example/back?x=1")
        full.allowedOrigins = ["https://a.example", "http://localhost:3000"]
        try await store.credentials.addAPIToken(full)
        try await store.credentials.addAPIToken(token(2))
        try await store.credentials.addAPIToken(token(3, in: "iCloud.b"))
        let here = try await store.credentials.programCredentials(
          container: "iCloud.a", environment: .development)
        #expect(here == ProgramCredentials(apiTokens: [full, token(2)]))
        let elsewhere = try await store.credentials.programCredentials(
          container: "iCloud.a", environment: .production)
        #expect(elsewhere == ProgramCredentials())
        #expect(
          try await store.credentials.programCredentials().apiTokens == [
            full, token(2), token(3, in: "iCloud.b"),
          ])
        #expect(full.identifier == "0101010101010101")
      }
    }

    @Test("A token or key is revoked once, and stays known", arguments: engines)
    func revocation(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        try await store.credentials.addAPIToken(token(1))
        try await store.credentials.addServerKey(key(1))
        #expect(
          try await store.credentials.revokeAPIToken(withHash: token(1).hash, at: TestStore.time(9))
        )
        #expect(try await store.credentials.revokeServerKey("key1", at: TestStore.time(9)))
        #expect(
          try await !store.credentials.revokeAPIToken(
            withHash: token(1).hash, at: TestStore.time(10)))
        #expect(try await !store.credentials.revokeServerKey("key1", at: TestStore.time(10)))
        #expect(try await !store.credentials.revokeServerKey("key2", at: TestStore.time(10)))
        let all = try await store.credentials.programCredentials()
        #expect(all.apiTokens.map(\.revoked) == [TestStore.time(9)])
        #expect(all.serverKeys.map(\.revoked) == [TestStore.time(9)])
      }
    }

    @Test("A public key is registered once for a container's environment", arguments: engines)
    func publicKeys(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        try await store.credentials.addServerKey(key(1))
        #expect(await storeError { try await store.credentials.addServerKey(key(2)) } == .exists)
        try await store.credentials.addServerKey(key(3, publicKey: "other"))
        let here = try await store.credentials.programCredentials(
          container: "iCloud.a", environment: .production)
        #expect(here.serverKeys == [key(1), key(3, publicKey: "other")])
      }
    }

    @Test(
      "A session's token is kept with its session, a native client's without", arguments: engines)
    func webAuthTokens(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        let native = WebAuthToken(
          hash: [1], userRecordName: "_a", created: TestStore.time(1), expires: TestStore.time(2))
        var session = native
        session.hash = [2]
        session.session = WebAuthToken.Session(
          id: [7, 8], container: "iCloud.a", environment: .production, lifetime: 1800)
        try await store.accounts.addWebAuthToken(native)
        try await store.accounts.addWebAuthToken(session)
        #expect(try await store.accounts.webAuthToken(withHash: [1]) == native)
        #expect(try await store.accounts.webAuthToken(withHash: [2]) == session)
        #expect(try await store.accounts.webAuthToken(withHash: [3]) == nil)
      }
    }

    @Test(
      "A user's sessions end together, native tokens and courier readers when told so",
      arguments: engines)
    func endOfSessions(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        func add(_ number: UInt8, of user: String, session: UInt8?, until: Int64 = 1000)
          async throws
        {
          try await store.accounts.addWebAuthToken(
            WebAuthToken(
              hash: [number], userRecordName: user, created: TestStore.time(1),
              expires: TestStore.time(until),
              session: session.map {
                WebAuthToken.Session(
                  id: [$0], container: "iCloud.a", environment: .production, lifetime: 1800)
              }))
        }
        func left() async throws -> [UInt8] {
          var left: [UInt8] = []
          for number in 1...9 as ClosedRange<UInt8>
          where try await store.accounts.webAuthToken(withHash: [number]) != nil {
            left.append(number)
          }
          return left
        }
        func addReader(_ token: String, of user: String) async throws {
          try await store.devices.saveDeviceToken(
            DeviceToken(
              kind: .courier, token: token, container: "iCloud.a", environment: .production,
              apnsEnvironment: .production, userRecordName: user, deviceID: nil,
              registered: TestStore.time(1), expires: TestStore.time(1000)))
        }
        func readers() async throws -> [String] {
          var readers: [String] = []
          for token in ["x", "y"]
          where try await store.devices.registrations(ofToken: token, kind: .courier).isEmpty
            == false
          {
            readers.append(token)
          }
          return readers
        }
        try await add(1, of: "_a", session: 7)
        try await add(2, of: "_a", session: 7)
        try await add(3, of: "_a", session: 8)
        try await add(4, of: "_a", session: 9, until: 5)
        try await add(5, of: "_a", session: nil)
        try await add(6, of: "_b", session: 10)
        try await add(7, of: "_b", session: nil)
        try await addReader("x", of: "_a")
        try await addReader("y", of: "_b")
        let now = TestStore.time(10)
        #expect(try await store.accounts.endSessions(of: "_a", everywhere: false, at: now) == 2)
        #expect(try await left() == [5, 6, 7])
        #expect(try await readers() == ["x", "y"])
        #expect(try await store.accounts.endSessions(of: "_a", everywhere: true, at: now) == 1)
        #expect(try await left() == [6, 7])
        #expect(try await readers() == ["y"])
        #expect(try await store.accounts.endSessions(of: "_a", everywhere: true, at: now) == 0)
        #expect(try await store.accounts.endSessions(of: "_b", everywhere: true, at: now) == 2)
        #expect(try await left() == [])
      }
    }

    @Test(
      "The devices that a sign-in registered get nothing more when it ends or expires",
      arguments: engines)
    func devicesOfEndedSignIns(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        func add(_ number: UInt8, session: UInt8?, until: Int64 = 1000) async throws {
          try await store.accounts.addWebAuthToken(
            WebAuthToken(
              hash: [number], userRecordName: "_a", created: TestStore.time(1),
              expires: TestStore.time(until),
              session: session.map {
                WebAuthToken.Session(
                  id: [$0], container: "iCloud.a", environment: .production, lifetime: 1800)
              }))
        }
        func register(
          _ token: String, _ kind: DeviceToken.Kind, signIn: [UInt8]?
        ) async throws {
          try await store.devices.saveDeviceToken(
            DeviceToken(
              kind: kind, token: token, container: "iCloud.a", environment: .production,
              apnsEnvironment: .production, userRecordName: "_a", deviceID: nil, signIn: signIn,
              registered: TestStore.time(1)))
        }
        func left() async throws -> [String] {
          try await store.devices.deviceTokens(of: "_a").map(\.token).sorted()
        }
        try await add(1, session: 7)
        try await add(2, session: 8)
        try await add(3, session: nil)
        try await add(4, session: nil, until: 20)
        try await register("aa", .apns, signIn: [7])
        try await register("webPush-1", .webPush, signIn: [8])
        try await register("bb", .apns, signIn: [3])
        try await register("reader", .courier, signIn: [4])
        try await register("cc", .apns, signIn: nil)
        try await register("webhook-1", .webhook, signIn: nil)
        try await store.accounts.endSession(withID: [7], at: TestStore.time(10))
        #expect(try await left() == ["bb", "cc", "reader", "webPush-1", "webhook-1"])
        let now = TestStore.time(10)
        _ = try await store.accounts.endSessions(of: "_a", everywhere: false, at: now)
        #expect(try await left() == ["bb", "cc", "reader", "webhook-1"])
        try await store.maintenance.trim(at: TestStore.time(30))
        #expect(try await left() == ["bb", "cc", "webhook-1"])
        _ = try await store.accounts.endSessions(of: "_a", everywhere: true, at: now)
        #expect(try await left() == ["webhook-1"])
      }
    }

    @Test(
      "A device whose sign-in has expired gets nothing, however long ago maintenance ran",
      arguments: engines)
    func devicesOfExpiredSignIns(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        func add(_ number: UInt8, session: UInt8? = nil, until: Int64) async throws {
          try await store.accounts.addWebAuthToken(
            WebAuthToken(
              hash: [number], userRecordName: TestStore.alice, created: TestStore.time(0),
              expires: TestStore.time(until),
              session: session.map {
                WebAuthToken.Session(
                  id: [$0], container: TestStore.container, environment: .development,
                  lifetime: 1800)
              }))
        }
        try await add(1, until: 20)
        try await add(2, session: 9, until: 20)
        try await add(3, session: 9, until: 50)
        try await add(4, session: 8, until: 20)
        for (token, signIn) in [("aa", [1]), ("bb", [9]), ("cc", [8])] as [(String, [UInt8])] {
          try await store.devices.saveDeviceToken(
            DeviceToken(
              kind: .apns, token: token, container: TestStore.container, environment: .development,
              apnsEnvironment: .development, userRecordName: TestStore.alice, deviceID: token,
              signIn: signIn, registered: TestStore.time(0)))
        }
        _ = try await test.subscribe(noteSubscription("s"))
        func pushed(_ name: String, at seconds: Int64) async throws -> [String] {
          try await test.save(name, device: "other")
          return try await test.dispatch(at: seconds).deliveries.map(\.device.token)
        }
        #expect(try await pushed("early", at: 10) == ["aa", "bb", "cc"])
        #expect(try await pushed("late", at: 30) == ["bb"])

        // Of the deliveries that wait since before the end, only that of the valid sign-in is sent.
        let route = try #require(try await store.deliveries.deliveryRoutes().keys.first)
        let taken = try await store.deliveries.takeDeliveries(
          on: route, dueAt: TestStore.time(31), limit: 10,
          lease: DeliveryLease(holder: 1, until: TestStore.time(60)), mergingHarder: false)
        #expect(Set(taken.deliveries.map(\.device.token)) == ["bb"])
        #expect(taken.lostCount == 2)

        let recipient = Recipient(
          userRecordName: TestStore.alice, container: TestStore.container,
          environment: .development)
        for isTrimmed in [false, true] {
          if isTrimmed { try await store.maintenance.trim(at: TestStore.time(40)) }
          let periods = try await store.changeHistory.devicePeriods(of: recipient)
          #expect(
            periods.map(\.ended) == [20, 50, 20].map { TestStore.time($0) }, "\(isTrimmed)")
        }
        #expect(try await pushed("last", at: 60) == [])
      }
    }

    @Test(
      "The first request with a token gives the session's older ones their grace",
      arguments: engines)
    func rotation(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let store = test.store
        func token(_ number: UInt8, session: UInt8) -> WebAuthToken {
          WebAuthToken(
            hash: [number], userRecordName: "_a", created: TestStore.time(Int64(number)),
            expires: TestStore.time(1000),
            session: WebAuthToken.Session(
              id: [session], container: "iCloud.a", environment: .production, lifetime: 1800))
        }
        func expiry(_ number: UInt8) async throws -> Timestamp? {
          try await store.accounts.webAuthToken(withHash: [number])?.expires
        }
        for number in 1...3 as ClosedRange<UInt8> {
          try await store.accounts.addWebAuthToken(token(number, session: 7))
        }
        try await store.accounts.addWebAuthToken(token(4, session: 8))
        let isThere = try await store.accounts.rotateWebAuthToken(
          withHash: [2], successor: token(5, session: 7), olderExpire: TestStore.time(100))
        #expect(isThere)
        #expect(try await expiry(1) == TestStore.time(100))
        for number in 2...5 as ClosedRange<UInt8> {
          #expect(try await expiry(number) == TestStore.time(1000), "\(number)")
        }
        #expect(try await store.accounts.webAuthToken(withHash: [2])?.session?.isUsed == true)
        #expect(try await store.accounts.webAuthToken(withHash: [5])?.session?.isUsed == false)
        // What ends sooner does not live longer for it.
        _ = try await store.accounts.rotateWebAuthToken(
          withHash: [3], successor: nil, olderExpire: TestStore.time(200))
        #expect(try await expiry(1) == TestStore.time(100))
        #expect(try await expiry(2) == TestStore.time(200))
        let isGone = try await !store.accounts.rotateWebAuthToken(
          withHash: [9], successor: token(10, session: 7), olderExpire: nil)
        #expect(isGone)
        #expect(try await store.accounts.webAuthToken(withHash: [10]) == nil)
      }
    }
  }
}
