import CloudKitModel
import Foundation
import JSONCoding
import Testing

@testable import Configuration
@testable import Storage

struct ContainerLimitTests {
  private static let permission =
    #"{"permissions": [{"permission": "USER_DISCOVERABILITY", "status": "GRANTED"}]}"#

  private func settings(containers: Int = 1_000, newPerUser: Int = 1_000) -> ServiceSettings {
    var settings = ServiceSettings()
    settings.limits.containers = containers
    settings.limits.newContainersPerUser = newPerUser
    return settings
  }

  private func send(
    _ operation: String, _ body: String, to container: String, as user: TestUser,
    at service: Service
  ) async throws -> Answer {
    try await service.client.send(
      "POST", service.target(operation, as: user).replacing(Service.container, with: container),
      body: Data(body.utf8))
  }

  private func save(
    in container: String, as user: TestUser, at service: Service
  ) async throws -> Answer {
    try await send(
      "public/records/modify",
      #"{"operations": [\#(Service.operation("forceUpdate", "n"))]}"#, to: container, as: user,
      at: service)
  }

  @Test("a user makes so many containers in an hour, in whatever way, and others may go on")
  func newPerUser() async throws {
    try await withService(settings(newPerUser: 3)) { service in
      let alice = service.alice
      let made = try await [
        save(in: "iCloud.a", as: alice, at: service),
        send(
          "tokens/register",
          #"{"apnsEnvironment": "development", "apnsToken": "\#(String(repeating: "a1", count: 32))"}"#,
          to: "iCloud.b", as: alice, at: service),
        send(
          "public/users/permissions", Self.permission,
          to: "iCloud.c", as: alice, at: service),
      ]
      for answer in made { #expect(answer.status == 200, "\(answer.json)") }
      let further = try await [
        save(in: "iCloud.d", as: alice, at: service),
        send(
          "tokens/create", #"{"apnsEnvironment": "development"}"#, to: "iCloud.d", as: alice,
          at: service),
        send(
          "public/users/permissions", Self.permission,
          to: "iCloud.d", as: alice, at: service),
        send(
          "private/zones/modify",
          #"{"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": "z"}}}]}"#,
          to: "iCloud.d", as: alice, at: service),
      ]
      for answer in further {
        #expect(answer.json.errorCode == "QUOTA_EXCEEDED", "\(answer.json)")
        #expect(
          answer.reason.contains("'iCloud.d'") && answer.reason.contains("the limit is 3"),
          "\(answer.json)")
      }
      // What is there goes on, for this user and others.
      #expect(try await save(in: "iCloud.b", as: alice, at: service).status == 200)
      #expect(try await save(in: "iCloud.d", as: service.bob, at: service).status == 200)
      #expect(try await save(in: "iCloud.d", as: alice, at: service).status == 200)
      service.clock.advance(bySeconds: 3_601)
      #expect(try await save(in: "iCloud.e", as: alice, at: service).status == 200)
      let metrics = try await service.metrics()
      #expect(metrics.contains(#"petrel_limit_refusals_total{limit="newContainersPerUser"}"#))
    }
  }

  @Test("the server has so many containers, and the operator may add more")
  func containers() async throws {
    try await withService(settings(containers: 2)) { service in
      #expect(try await save(in: "iCloud.a", as: service.alice, at: service).status == 200)
      #expect(try await save(in: "iCloud.b", as: service.bob, at: service).status == 200)
      let refused = try await save(in: "iCloud.c", as: service.bob, at: service)
      #expect(refused.json.errorCode == "QUOTA_EXCEEDED")
      #expect(refused.reason.contains("2 containers, the limit"), "\(refused.json)")
      _ = try await service.store.schemas.importSchema(
        ContainerSchema(recordTypes: ["Note": .init()]), of: "iCloud.c", isDryRun: false)
      #expect(try await save(in: "iCloud.c", as: service.bob, at: service).status == 200)
    }
  }

  @Test("the limit holds for containers that are made at the same time")
  func exact() async throws {
    try await withService(settings(containers: 7, newPerUser: 5)) { service in
      let made = try await withThrowingTaskGroup(of: (user: String, isMade: Bool).self) { tasks in
        for number in 0..<30 {
          let user = number % 2 == 0 ? service.alice : service.bob
          tasks.addTask {
            let answer = try await save(in: "iCloud.n\(number)", as: user, at: service)
            return (user.name, answer.status == 200)
          }
        }
        return try await tasks.reduce(into: [:] as [String: Int]) {
          $0[$1.user, default: 0] += $1.isMade ? 1 : 0
        }
      }
      #expect(made.values.reduce(0, +) == 7)
      #expect(made.values.allSatisfy { $0 <= 5 }, "\(made)")
    }
  }

  @Test("a server whose configuration lists containers has no such limit")
  func listed() async throws {
    var settings = settings(containers: 1, newPerUser: 1)
    settings.containers = [
      Service.container: .init(), "iCloud.a": .init(), "iCloud.b": .init(),
    ]
    try await withService(settings) { service in
      #expect(try await save(in: "iCloud.a", as: service.alice, at: service).status == 200)
      #expect(try await save(in: "iCloud.b", as: service.alice, at: service).status == 200)
      let other = try await save(in: "iCloud.c", as: service.alice, at: service)
      #expect(other.json.errorCode == "BAD_CONTAINER", "\(other.json)")
    }
  }
}
