import CloudKitModel
import Foundation
import JSONCoding
import StoreModel
import Testing

@testable import DatabaseAPI

struct TokensTests {
  private static let hex = String(repeating: "0aFf", count: 16)

  private static func register(
    _ service: Service, _ token: String, as user: TestUser, environment: String = "development",
    device: String? = "phone"
  ) async throws -> Answer {
    let client = device.map { #", "clientId": "\#($0)""# } ?? ""
    return try await service.post(
      "tokens/register",
      #"{"apnsEnvironment": "\#(environment)", "apnsToken": "\#(token)"\#(client)}"#, as: user)
  }

  @Test("create makes a token with a courier URL that can be used as it is")
  func create() async throws {
    try await withService(.init(pollTime: 0)) { service in
      let answer = try await service.post(
        "tokens/create", #"{"apnsEnvironment": "production", "clientId": "c"}"#, as: service.alice)
      #expect(answer.status == 200)
      #expect(answer.json["apnsEnvironment"] == "production")
      let token = try #require(answer.json["apnsToken"]?.string)
      #expect(Data(base64Encoded: token)?.count == 32)
      let url = try #require(answer.json["webcourierURL"]?.string)
      #expect(url.hasPrefix("\(service.server.url)/aps?tok=") && url.hasSuffix("&ttl=43200"))
      let path = String(url.dropFirst(service.server.url.count))
      let poll = try await service.poll(path)
      #expect(poll.status == 200 && poll.body.isEmpty)
    }
  }

  @Test("the courier URL begins with the configured public URL")
  func publicURL() async throws {
    try await withService(.init(publicURL: "https://cloud.example.com")) { service in
      let answer = try await service.post(
        "tokens/create", #"{"apnsEnvironment": "development"}"#, as: service.alice)
      let url = answer.json["webcourierURL"]?.string
      #expect(url?.hasPrefix("https://cloud.example.com/aps?tok=") ?? false)
    }
  }

  @Test("both prefixes are served, with a database in the path and without")
  func prefixes() async throws {
    try await withService { service in
      let query = "?ckWebAuthToken=\(Service.escaped(service.alice.token))"
      for path in [
        "/device/1/\(Service.container)/development/tokens/create",
        "/database/1/\(Service.container)/development/tokens/create",
        "/database/1/\(Service.container)/development/public/tokens/create",
      ] {
        let answer = try await service.client.send(
          "POST", path + query, body: Data(#"{"apnsEnvironment": "development"}"#.utf8))
        #expect(answer.status == 200, "\(path): \(answer.json)")
      }
    }
  }

  @Test("a device token is kept in lower-case hexadecimal digits, with its user and device")
  func registersDevice() async throws {
    try await withService { service in
      let answer = try await Self.register(
        service, Self.hex, as: service.alice, environment: "production")
      #expect(answer.status == 200)
      #expect(answer.json["apnsToken"]?.string == Self.hex.lowercased())
      #expect(answer.json["webcourierURL"] == nil)
      let tokens = try await service.store.devices.deviceTokens(of: service.alice.recordName)
      #expect(tokens.map(\.token) == [Self.hex.lowercased()])
      #expect(tokens.first?.apnsEnvironment == .production)
      #expect(tokens.first?.environment == .development)
      #expect(tokens.first?.deviceID == "phone")
      #expect(tokens.first?.container == Service.container)
    }
  }

  @Test("an app names its bundle ID, which is one of the topics of the container")
  func bundleIDs() async throws {
    let topics = ["com.example.app", "com.example.app.mac"]
    try await withServiceOfUnreachableAPNs(topics: topics) { service in
      func register(_ bundleID: String, token: String = Self.hex) async throws -> Answer {
        try await service.post(
          "tokens/register", #"{"apnsToken": "\#(token)", "bundleID": "\#(bundleID)"}"#,
          as: service.alice)
      }
      func stored() async throws -> [String?] {
        try await service.store.devices.deviceTokens(of: service.alice.recordName)
          .filter { $0.kind == .apns }.map(\.bundleID)
      }
      #expect(try await register("com.example.app.mac").status == 200)
      #expect(try await stored() == ["com.example.app.mac"])
      let unknown = try await register("com.example.app.tv")
      #expect(unknown.status == 400 && unknown.json["serverErrorCode"] == "BAD_REQUEST")
      #expect(
        unknown.json["reason"]?.string
          == "bundleID: 'com.example.app.tv' is not one of the topics of the container "
          + "'\(Service.container)': com.example.app, com.example.app.mac; an operator can add it to "
          + "'topics' of containers.\(Service.container).apns")
      let malformed = try await register("my app")
      #expect(
        malformed.json["reason"]?.string
          == "bundleID: 'my app' is not a bundle ID such as com.example.app, of 1 to 255 ASCII characters"
      )
      #expect(try await stored() == ["com.example.app.mac"])
      _ = try await Self.register(service, Self.hex, as: service.alice)
      #expect(try await stored() == [nil])

      let courier = try await service.post(
        "tokens/create", #"{"apnsEnvironment": "development", "bundleID": "com.example.app"}"#,
        as: service.alice)
      let rule =
        "bundleID: belongs to a device's own APNs token; a token of the web courier has none"
      #expect(courier.status == 400 && courier.json["reason"]?.string == rule)
      let made = try await service.post(
        "tokens/create", #"{"apnsEnvironment": "development"}"#, as: service.alice)
      let reader = try #require(made.json["apnsToken"]?.string)
      #expect(try await register("com.example.app", token: reader).json["reason"]?.string == rule)
    }
  }

  @Test("a container without a way to APNs takes any bundle ID, for the day when it gets one")
  func bundleIDWithoutAPNs() async throws {
    try await withService { service in
      let answer = try await service.post(
        "tokens/register", #"{"apnsToken": "\#(Self.hex)", "bundleID": "com.example.app.tv"}"#,
        as: service.alice)
      #expect(answer.status == 200)
      let tokens = try await service.store.devices.deviceTokens(of: service.alice.recordName)
      #expect(tokens.map(\.bundleID) == ["com.example.app.tv"])
    }
  }

  @Test("base64 of 32 bytes is the same token as their hexadecimal digits")
  func registersBase64() async throws {
    try await withService { service in
      let bytes = Data((0..<32).map { UInt8($0 * 8) })
      let answer = try await Self.register(
        service, bytes.base64EncodedString(), as: service.alice)
      let digits = bytes.map { String(format: "%02x", $0) }.joined()
      #expect(answer.json["apnsToken"]?.string == digits)
      _ = try await Self.register(service, digits, as: service.alice)
      #expect(try await service.store.devices.deviceTokens(of: service.alice.recordName).count == 1)
    }
  }

  @Test("a token that another user registers is his from then on")
  func movesToAnotherUser() async throws {
    try await withService { service in
      _ = try await Self.register(service, Self.hex, as: service.alice)
      _ = try await Self.register(service, Self.hex, as: service.bob)
      #expect(try await service.store.devices.deviceTokens(of: service.alice.recordName).isEmpty)
      #expect(try await service.store.devices.deviceTokens(of: service.bob.recordName).count == 1)
    }
  }

  @Test("a token that its user unregisters is gone, and a second time is no error")
  func unregisters() async throws {
    try await withService { service in
      let made = try await service.post(
        "tokens/create", #"{"apnsEnvironment": "development"}"#, as: service.alice)
      let reader = try #require(made.json["apnsToken"]?.string)
      _ = try await Self.register(service, Self.hex, as: service.alice)
      for (token, left) in [(Self.hex, [DeviceToken.Kind.courier]), (reader, []), (reader, [])] {
        let before = try await service.store.devices.deviceTokens(of: service.alice.recordName)
        // A request of another user changes nothing.
        for (user, kinds) in [(service.bob, before.map(\.kind)), (service.alice, left)] {
          let answer = try await service.post(
            "tokens/unregister", #"{"apnsToken": "\#(token)"}"#, as: user)
          #expect(answer.status == 200)
          let stored = try await service.store.devices.deviceTokens(of: service.alice.recordName)
          #expect(stored.map(\.kind) == kinds)
        }
      }
    }
  }

  @Test("a client that names no token unregisters what it registered under its sign-in")
  func unregistersDevice() async throws {
    try await withService { service in
      let tokens = (0..<4).map { String(repeating: "a\($0)", count: 16) }
      let former = try await service.signIn(service.alice)
      let present = try await service.signIn(service.alice)
      _ = try await Self.register(service, tokens[0], as: former, device: "phone")
      _ = try await Self.register(service, tokens[1], as: former, device: "watch")
      _ = try await Self.register(service, tokens[2], as: present, device: "phone")
      _ = try await Self.register(service, tokens[3], as: service.bob, device: "phone")
      let answer = try await service.post(
        "tokens/unregister", #"{"clientId": "phone"}"#, as: former)
      #expect(answer.status == 200)
      let stored = try await service.store.devices.deviceTokens(of: service.alice.recordName)
      #expect(stored.map(\.token) == [tokens[1], tokens[2]])
      #expect(try await service.store.devices.deviceTokens(of: service.bob.recordName).count == 1)
      let unnamed = try await service.post("tokens/unregister", "{}", as: former)
      #expect(unnamed.failure == "400 BAD_REQUEST")
      #expect(unnamed.json["reason"]?.string?.hasPrefix("apnsToken: is missing") == true)
    }
  }

  @Test("a courier token is registered as the same token, with its URL")
  func registersCourierToken() async throws {
    try await withService { service in
      let made = try await service.post(
        "tokens/create", #"{"apnsEnvironment": "development"}"#, as: service.alice)
      let token = try #require(made.json["apnsToken"]?.string)
      let answer = try await Self.register(service, token, as: service.alice)
      #expect(answer.json == made.json)
      let stored = try await service.store.devices.deviceTokens(of: service.alice.recordName)
      #expect(stored.map(\.kind) == [.courier])
      #expect(stored.first?.deviceID == "phone")
    }
  }

  @Test("a courier token that has expired cannot be registered again")
  func refusesExpiredCourierToken() async throws {
    try await withService { service in
      let made = try await service.post(
        "tokens/create", #"{"apnsEnvironment": "development"}"#, as: service.alice)
      let token = try #require(made.json["apnsToken"]?.string)
      service.clock.advance(bySeconds: 43_201)
      let answer = try await Self.register(service, token, as: service.alice)
      #expect(answer.failure == "400 BAD_REQUEST")
      #expect(answer.reason.contains("has expired; make a new one with tokens/create"))
    }
  }

  @Test(
    "what is no token is refused with the rule",
    arguments: [
      (#""apnsToken": "xyz""#, "apnsToken: 'xyz' is not a device token"),
      (#""apnsToken": "\#(String(repeating: "a", count: 63))""#, "is not a device token"),
      (#""apnsToken": "00ff""#, "expected 16 to 256 bytes in hexadecimal digits"),
      (#""apnsToken": """#, "apnsToken: is missing"),
      (#""x": 1"#, "apnsToken: is missing"),
      (#""apnsToken": 5"#, "apnsToken: must be a string, not a number"),
    ])
  func refuses(member: String, complaint: String) async throws {
    try await withService { service in
      let answer = try await service.post(
        "tokens/register", #"{"apnsEnvironment": "development", \#(member)}"#, as: service.alice)
      #expect(answer.failure == "400 BAD_REQUEST")
      #expect(answer.reason.contains(complaint), "\(answer.reason)")
      #expect(try await service.store.devices.deviceTokens(of: service.alice.recordName).isEmpty)
    }
  }

  @Test("the APNs environment is development or production", arguments: ["create", "register"])
  func refusesEnvironment(operation: String) async throws {
    try await withService { service in
      let answer = try await service.post(
        "tokens/\(operation)", #"{"apnsEnvironment": "sandbox", "apnsToken": "\#(Self.hex)"}"#,
        as: service.alice)
      #expect(answer.failure == "400 BAD_REQUEST")
      #expect(
        answer.reason == "apnsEnvironment: 'sandbox' must be one of development, production")
    }
  }

  @Test("a device token is registered in each container and environment by itself")
  func registersDeviceTokenElsewhere() async throws {
    try await withService { service in
      func post(_ operation: String, in container: String, as user: TestUser) async throws -> Answer
      {
        try await service.client.send(
          "POST",
          service.target(operation, as: user)
            .replacingOccurrences(of: Service.container, with: container),
          body: Data(#"{"apnsToken": "\#(Self.hex)"}"#.utf8))
      }
      func containers(of user: TestUser) async throws -> [String] {
        try await service.store.devices.deviceTokens(of: user.recordName).map(\.container).sorted()
      }
      for container in [Service.container, "iCloud.other", "iCloud.third"] {
        let answer = try await post("tokens/register", in: container, as: service.alice)
        #expect(answer.status == 200)
      }
      #expect(
        try await containers(of: service.alice)
          == [Service.container, "iCloud.other", "iCloud.third"].sorted())
      #expect(try await post("tokens/register", in: "iCloud.other", as: service.bob).status == 200)
      #expect(try await containers(of: service.bob) == ["iCloud.other"])
      #expect(
        try await post("tokens/unregister", in: "iCloud.third", as: service.alice).status == 200)
      #expect(try await containers(of: service.alice) == [Service.container])
    }
  }

  @Test("a courier token may be registered in sixteen containers, each its own user's")
  func registersCourierTokenElsewhere() async throws {
    try await withService { service in
      let made = try await service.post(
        "tokens/create", #"{"apnsEnvironment": "development"}"#, as: service.alice)
      let token = try #require(made.json["apnsToken"]?.string)
      func register(in container: String, as user: TestUser) async throws -> Answer {
        try await service.client.send(
          "POST",
          service.target("tokens/register", as: user)
            .replacingOccurrences(of: Service.container, with: container),
          body: Data(#"{"apnsEnvironment": "development", "apnsToken": "\#(token)"}"#.utf8))
      }
      for number in 2...16 {
        let answer = try await register(
          in: "iCloud.other\(number)", as: number == 2 ? service.bob : service.alice)
        #expect(answer.json == made.json)
      }
      let registrations = try await service.store.devices.registrations(
        ofToken: CourierToken.name(of: token), kind: .courier)
      #expect(registrations.count == 16)
      #expect(registrations.contains { $0.container == Service.container })
      #expect(
        registrations.filter { $0.userRecordName == service.bob.recordName }.map(\.container)
          == ["iCloud.other2"])
      #expect(registrations.allSatisfy { $0.expires == registrations[0].expires })
      // Again is not once more, and moves the registration of that container alone.
      #expect(try await register(in: "iCloud.other2", as: service.alice).status == 200)
      let others = try await service.store.devices.registrations(
        ofToken: CourierToken.name(of: token), kind: .courier)
      #expect(Set(others.map(\.userRecordName)) == [service.alice.recordName])
      let tooMany = try await register(in: "iCloud.other17", as: service.alice)
      #expect(tooMany.failure == "400 BAD_REQUEST")
      #expect(tooMany.json["limit"] == 16)
    }
  }

  @Test("users/caller names the caller, by GET and by POST")
  func caller() async throws {
    try await withService { service in
      for user in [service.alice, service.bob] {
        let get = try await service.get("public/users/caller", as: user)
        #expect(get.json["userRecordName"]?.string == user.recordName)
        let post = try await service.post("public/users/caller", "", as: user)
        #expect(post.json == get.json)
      }
    }
  }

  @Test("ckSession is read as the web auth token, as older clients send it")
  func olderName() async throws {
    try await withService { service in
      let answer = try await service.client.send(
        "GET",
        "/database/1/\(Service.container)/development/public/users/caller?ckSession="
          + Service.escaped(service.alice.token))
      #expect(answer.json["userRecordName"]?.string == service.alice.recordName)
    }
  }
}
