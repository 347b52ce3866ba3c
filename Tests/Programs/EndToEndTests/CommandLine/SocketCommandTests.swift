import CloudKit
import JSONCoding
import Testing
import Waiting

/// Tests of commands that find the server of their data directory by themselves.
@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct SocketCommandTests {
  /// A data directory, and a server on it that runs as a program.
  private struct Place {
    let folder: String

    var data: String { folder + "/.petrel" }
    var socket: String { data + "/petrel.socket" }

    func run(_ words: String..., input: String? = nil, in other: String? = nil) async throws -> (
      status: Int32, output: String
    ) {
      let program = try Program("petrel", words, input: input, in: other ?? folder)
      return (try await program.end(), program.output)
    }

    func withServer(_ body: (Program) async throws -> Void) async throws {
      let server = try Program("petrel", ["serve", "--port", "0"], in: folder)
      do {
        try await server.line(containing: "its data is in")
        try await body(server)
      } catch {
        try await server.kill()
        throw error
      }
      server.signal(SIGINT)
      _ = try await server.end()
    }
  }

  private func withPlace(_ body: (Place) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-own-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(
      atPath: folder + "/elsewhere", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(Place(folder: folder))
  }

  @Test("Records and zones are changed beside a server without a key, and it dispatches them")
  func changes() async throws {
    try await withPlace { place in
      try await place.withServer { server in
        #expect(try await place.run("users", "add", "anna").status == 0)
        let zone = try await place.run(
          "zones", "save", "Notes", "--container", "iCloud.com.example.own", "--database",
          "private", "--user", "anna")
        #expect(zone == (0, "saved Notes\n"), "\(zone)")
        let subscription = """
          {"subscriptionID": "all", "subscriptionType": "query", "firesOn": ["create"],
           "query": {"recordType": "Note", "filterBy": []}}
          """
        let saved = try await place.run(
          "subscriptions", "save", "--container", "iCloud.com.example.own", "--subscriber", "anna",
          "--file", "-", input: subscription)
        #expect(saved.status == 0, "\(saved)")
        let put = try await place.run(
          "records", "put", "n1", "--type", "Note", "title:STRING=Milk", "--container",
          "iCloud.com.example.own")
        #expect(put == (0, "saved n1\n"), "\(put)")
        try await eventually("the notification is in the log") {
          let list = try await place.run("notifications", "list", "--json")
          return list.status == 0 && list.output.contains("\"all\"")
        }
        #expect(server.output.contains("admin: records/modify by the data directory's owner"))
      }
    }
  }

  @Test("The next server replaces the socket that a killed one left, and a stopped one leaves none")
  func killed() async throws {
    try await withPlace { place in
      try await place.withServer { server in
        try await server.kill()
        #expect(FileManager.default.fileExists(atPath: place.socket))
        // Without a server the command works on the store.
        #expect(try await place.run("users", "list").status == 0)
        try await place.withServer { _ in
          let list = try await place.run("notifications", "list")
          #expect(list == (0, "no notifications were found\n"), "\(list)")
        }
        #expect(!FileManager.default.fileExists(atPath: place.socket))
      }
    }
  }

  @Test(
    "A command that would make a second store beside a server is refused unless --data names it")
  func secondStore() async throws {
    try await withPlace { place in
      let first = try await place.run("users", "add", "ben", "--data", place.data)
      #expect(
        first.status == 0
          && first.output.contains(
            "there was no store here; a new one was created in '\(place.data)'"),
        "\(first)")
      try await place.withServer { _ in
        let elsewhere = place.folder + "/elsewhere"
        let refused = try await place.run("users", "add", "anna", in: elsewhere)
        #expect(refused.status == 64, "\(refused)")
        #expect(refused.output.contains("there is no store in '.petrel'"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: elsewhere + "/.petrel"))
        let told = try await place.run("users", "add", "anna", "--data", ".petrel", in: elsewhere)
        #expect(told.status == 0 && told.output.contains("a new one was created"), "\(told)")
        // The server's own store knows neither.
        #expect(try await !place.run("users", "list").output.contains("anna"))
      }
    }
  }

  @Test(
    "Notifications are watched through the socket; without a server the command says that there is none"
  )
  func watching() async throws {
    try await withPlace { place in
      let none = try await place.run("notifications", "watch")
      #expect(none.status == 64 && none.output.contains("none runs on this data directory"))
      try await place.withServer { _ in
        let watch = try Program("petrel", ["notifications", "watch"], in: place.folder)
        try await watch.line(containing: "watching; interrupt to stop")
        try await watch.kill()
      }
    }
  }
}
