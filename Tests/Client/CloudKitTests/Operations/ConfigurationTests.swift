import Foundation
import Testing

@testable import CloudKit

struct ConfigurationTests {
  private func parse(
    _ variables: [String: String] = [:], file: String? = nil
  ) throws -> PetrelConfiguration {
    try PetrelConfiguration(
      variables: variables,
      file: file.map { PetrelConfiguration.File(path: "/app/petrel.json", content: Data($0.utf8)) },
      deviceID: { "made" })
  }

  @Test("Every setting can come from the file")
  func file() throws {
    let configuration = try parse(
      file: """
        {"server": "https://cloud.example:8443/petrel", "container": "iCloud.a", "token": "t",
         "apiToken": "k", "device": "phone", "environment": "production"}
        """)
    #expect(
      configuration
        == PetrelConfiguration(
          serverURL: URL(string: "https://cloud.example:8443/petrel")!,
          containerIdentifier: "iCloud.a", webAuthToken: "t", apiToken: "k", deviceID: "phone",
          environment: .production))
  }

  @Test("The environment's variables win over the file")
  func variables() throws {
    let configuration = try parse(
      [
        "PETREL_SERVER": "http://b", "PETREL_CONTAINER": "iCloud.b", "PETREL_TOKEN": "u",
        "PETREL_API_TOKEN": "l", "PETREL_DEVICE": "pad", "PETREL_ENVIRONMENT": "production",
      ], file: #"{"server": "http://a", "container": "iCloud.a", "token": "t"}"#)
    #expect(
      configuration
        == PetrelConfiguration(
          serverURL: URL(string: "http://b")!, containerIdentifier: "iCloud.b", webAuthToken: "u",
          apiToken: "l", deviceID: "pad", environment: .production))
  }

  @Test("Only the server is needed; the rest has defaults")
  func defaults() throws {
    let configuration = try parse(["PETREL_SERVER": "http://a", "PETREL_TOKEN": ""])
    #expect(
      configuration == PetrelConfiguration(serverURL: URL(string: "http://a")!, deviceID: "made"))
  }

  @Test(
    "A mistake is an error that names the place and the rule",
    arguments: [
      (#"{"servr": "http://a"}"#, "/app/petrel.json: unknown key 'servr'; the keys are server,"),
      (#"{"server": 7}"#, "/app/petrel.json: 'server' must be a string that is not empty"),
      (#"{"server": ""}"#, "/app/petrel.json: 'server' must be a string that is not empty"),
      (#"{"server": "http://a", "#, "/app/petrel.json: "),
      ("[]", "/app/petrel.json: must hold a JSON object, not an array"),
      (
        #"{"server": "ftp://a"}"#,
        "/app/petrel.json, 'server': server 'ftp://a' must begin with http:// or https://"
      ),
      (#"{"server": "http://a?b"}"#, "must not have a query or a fragment"),
      (
        #"{"server": "http://a", "environment": "test"}"#,
        "/app/petrel.json, 'environment': environment 'test' must be development or production"
      ),
      (
        #"{"server": "http://a", "container": "com.example"}"#,
        "/app/petrel.json, 'container': container 'com.example' must begin with 'iCloud.'"
      ),
      ("{}", "no server is configured: set PETREL_SERVER"),
    ])
  func mistakes(file: String, message: String) throws {
    let error = try #require(throws: CKError.self) { try parse(file: file) }
    #expect(error.code == .badContainer)
    #expect(error.localizedDescription.contains(message), "\(error.localizedDescription)")
  }

  @Test("The file of the nearest directory above counts")
  func nearestFile() throws {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: root) }
    let deep = root.appendingPathComponent("a/b")
    try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
    try Data("outer".utf8).write(to: root.appendingPathComponent("petrel.json"))
    #expect(try PetrelConfiguration.nearestFile(to: deep)?.content == Data("outer".utf8))
    try Data("inner".utf8).write(to: root.appendingPathComponent("a/petrel.json"))
    #expect(try PetrelConfiguration.nearestFile(to: deep)?.content == Data("inner".utf8))
    #expect(try PetrelConfiguration.nearestFile(to: root)?.content == Data("outer".utf8))
  }

  @Test("All programs of a user agree on the device's ID")
  func deviceIdentity() async throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: directory) }
    let ids = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<8 { group.addTask { try DeviceIdentity.persistent(in: directory) } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
    #expect(try DeviceIdentity.persistent(in: directory) == ids.first)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["device-id"])
  }

  @Test("What is set and what is kept lies in the user's directories, by XDG's variables and HOME")
  func directories() {
    for (directory, variable, fallback) in [
      (UserDirectory.configuration, "XDG_CONFIG_HOME", "/.config/petrel"),
      (.state, "XDG_STATE_HOME", "/.local/state/petrel"),
    ] {
      #expect(directory.path(variables: [variable: "/c", "HOME": "/h"]) == "/c/petrel")
      #expect(directory.path(variables: [variable: "relative", "HOME": "/h"]) == "/h" + fallback)
      #expect(directory.path(variables: ["HOME": "/h"]) == "/h" + fallback)
      #expect(directory.path(variables: [:]).hasSuffix(fallback))
    }
  }

  @Test("A container with a bad configuration fails on use, and says why")
  func badContainer() async throws {
    let configuration = PetrelConfiguration(
      serverURL: URL(string: "http://127.0.0.1:1")!, deviceID: "d")
    let container = CKContainer(identifier: "com.example", configuration: configuration)
    #expect(container.containerIdentifier == "com.example")
    let error = try await #require(throws: CKError.self) {
      try await container.privateCloudDatabase.record(for: CKRecord.ID(recordName: "r"))
    }
    #expect(error.code == .badContainer)
    #expect(error.localizedDescription.contains("must begin with 'iCloud.'"))
  }
}
