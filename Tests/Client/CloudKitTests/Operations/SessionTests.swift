import CloudKit
import Foundation
import HTTPService
import Testing
import Waiting
import WebServices

@testable import CloudKit

/// Web auth tokens that the server follows by others, from launch to launch.
struct SessionTests {
  /// A server that follows each token by one with a `+` more, and the launches of a program that uses it. `tokens` has
  /// the tokens of requests for the user.
  private struct World {
    var configuration: PetrelConfiguration
    var tokens: Guarded<[String?]>

    /// Returns the container of a program after a launch.
    func launch() -> CKContainer {
      CKContainer(identifier: "iCloud.com.example.app", configuration: configuration)
    }

    static func with(
      token: String?, _ body: (World, _ folder: String) async throws -> Void
    ) async throws {
      let tokens = Guarded<[String?]>([])
      try await withTemporaryFolder { (folder: String) async throws in
        try await HTTPTransport.withServer { request in
          let token = request.query("ckWebAuthToken")
          if request.path.hasSuffix("users/caller") { tokens.append(token) }
          var response = HTTPResponse(body: .data(UserResponse(userRecordName: "_me").body))
          if let token {
            response.headers.append(("X-Apple-CloudKit-Web-Auth-Token", token + "+"))
          }
          return response
        } _: { url in
          let configuration = PetrelConfiguration(
            serverURL: url, webAuthToken: token, apiToken: "k", deviceID: "phone",
            stateDirectory: URL(fileURLWithPath: folder))
          try await body(World(configuration: configuration, tokens: tokens), folder)
        }
      }
    }
  }

  @Test("A launch goes on with the token that the launch before was given last")
  func relaunch() async throws {
    try await World.with(token: "first") { world, _ in
      let container = world.launch()
      #expect(container.webAuthToken == "first")
      for _ in 0..<2 { _ = try await container.userRecordID() }
      #expect(container.webAuthToken == "first++")
      _ = try await world.launch().userRecordID()
      #expect(world.tokens.current == ["first", "first+", "first++"])
      // Another token of the configuration is another session.
      var other = world
      other.configuration.webAuthToken = "new"
      #expect(other.launch().webAuthToken == "new")
    }
  }

  @Test("A program signs in and out by itself, and stays so at the next launch")
  func signingIn() async throws {
    try await World.with(token: nil) { world, _ in
      let container = world.launch()
      #expect(container.webAuthToken == nil)
      try container.setWebAuthToken("mine")
      _ = try await container.userRecordID()
      let next = world.launch()
      #expect(next.webAuthToken == "mine+")
      try next.setWebAuthToken(nil)
      #expect(next.webAuthToken == nil)
      try next.setWebAuthToken(nil)
      #expect(world.launch().webAuthToken == nil)
      #expect(world.tokens.current == ["mine"])
    }
  }

  @Test("Each user has long-lived operations of their own, whatever token came after the first")
  func longLivedOperations() async throws {
    try await World.with(token: "first") { world, _ in
      func folder(_ container: CKContainer) throws -> String {
        try container.client.get().longLivedOperations.directory
      }
      let container = world.launch()
      let own = try folder(container)
      _ = try await container.userRecordID()
      #expect(container.webAuthToken == "first+")
      #expect(try folder(container) == own && folder(world.launch()) == own)
      try container.setWebAuthToken("another")
      let others = try folder(container)
      #expect(others != own)
      _ = try await container.userRecordID()
      #expect(try folder(world.launch()) == others)
      try container.setWebAuthToken(nil)
      #expect(try ![own, others].contains(folder(container)))
    }
  }

  @Test(
    "An answer that comes after the user signed out, or another in, changes nothing of that",
    arguments: [nil, "another"])
  func lateAnswer(next: String?) async throws {
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    let came = Guarded<[String?]>([])
    try await withTemporaryFolder { (folder: String) async throws in
      try await HTTPTransport.withServer { request in
        came.append(request.query("ckWebAuthToken"))
        for await _ in gate { break }
        var response = HTTPResponse(body: .data(UserResponse(userRecordName: "_me").body))
        response.headers.append(("X-Apple-CloudKit-Web-Auth-Token", "first+"))
        return response
      } _: { url in
        let configuration = PetrelConfiguration(
          serverURL: url, webAuthToken: "first", deviceID: "phone",
          stateDirectory: URL(fileURLWithPath: folder))
        let container = CKContainer(
          identifier: "iCloud.com.example.app", configuration: configuration)
        async let answer = container.userRecordID()
        try await eventually("the request is there") { came.current == ["first"] }
        try container.setWebAuthToken(next)
        opener.finish()
        _ = try await answer
        #expect(container.webAuthToken == next)
      }
    }
  }

  @Test("The token lies in a file that the user alone can read, and is named nowhere else")
  func privacy() async throws {
    try await World.with(token: "first") { world, folder in
      _ = try await world.launch().userRecordID()
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
      #expect(files.count == 2 && files.allSatisfy { !$0.contains("first") })
      let modes = try files.map {
        try FileManager.default.attributesOfItem(atPath: folder + "/" + $0)[.posixPermissions]
          as? Int
      }
      #expect(modes == [0o700, 0o600])
    }
  }

  @Test("A damaged file counts as none")
  func damaged() async throws {
    try await World.with(token: "first") { world, folder in
      _ = try await world.launch().userRecordID()
      let sessions = folder + "/sessions"
      for file in try FileManager.default.contentsOfDirectory(atPath: sessions) {
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: sessions + "/" + file))
      }
      #expect(world.launch().webAuthToken == "first")
    }
  }

  @Test("Where nothing can be kept, signing in says so and holds for this launch")
  func unwritable() async throws {
    try await World.with(token: nil) { world, folder in
      try Data().write(to: URL(fileURLWithPath: folder + "/sessions"))
      let container = world.launch()
      let error = #expect(throws: CKError.self) { try container.setWebAuthToken("mine") }
      #expect(error?.code == .internalError)
      #expect(error?.localizedDescription.contains("sessions") == true)
      #expect(container.webAuthToken == "mine")
    }
  }
}
